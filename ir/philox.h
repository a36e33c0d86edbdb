// Random numbers from a counter, as the emitted files draw them.
#ifndef CNNC_PHILOX_H
#define CNNC_PHILOX_H

#include <stdint.h>

// Philox4x32-10 of Salmon et al. (SC'11): equal counters and keys give equal
// words.
void philox(const uint32_t counter[4], uint64_t key, uint32_t word[4]);

// Element i of a fresh parameter: uniform in [-limit, limit], a function of
// the seed and of the parameter's number alone.
double philox_init(double limit, uint64_t seed, uint32_t number, int64_t i);

#endif
