// Pseudo-random numbers for searches, the same on every machine.
#ifndef CNNC_SPLITMIX_H
#define CNNC_SPLITMIX_H

#include <stdint.h>

// Returns the next number after *state, which it changes (Vigna, splitmix64).
static inline uint64_t splitmix64(uint64_t *state)
{
    uint64_t x = *state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

#endif
