// The order of the samples in an epoch: a pure function of seed and epoch.  So
// a run can be repeated, and resumed at any epoch, without the state of a
// generator.  Random numbers of a sample are draws from a counter that begins
// at a hash.
#pragma once
#include <stdint.h>

// splitmix64: a hash of a counter to 64 pseudo-random bits.
static inline uint64_t splitmix64(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// Sets a permutation of 0 .. count - 1 (Fisher and Yates).  The modulo's bias is below count /
// 2^64.
static inline void shuffle_order(long long *order, long long count, uint64_t seed, uint64_t epoch)
{
    uint64_t key = splitmix64(splitmix64(seed) + epoch);
    for (long long i = 0; i < count; i++) order[i] = i;
    for (long long i = count - 1; i > 0; i--) {
        long long j = (long long)(splitmix64(key + (uint64_t)i) % ((uint64_t)i + 1));
        long long other = order[j];
        order[j] = order[i];
        order[i] = other;
    }
}

// Draws: pseudo-random numbers, one after the other.
struct Draws {
    uint64_t next;
};

// Returns a number from 0 to below 1, a multiple of 2^-53.
static inline double draw_share(Draws *d)
{
    return (double)(splitmix64(d->next++) >> 11) * 0x1p-53;
}

static inline double draw_between(Draws *d, double least, double most)
{
    return least + (most - least) * draw_share(d);
}

// Returns one of 0 .. count - 1, for a count up to 2^31.
static inline long long draw_below(Draws *d, long long count)
{
    return (long long)(draw_share(d) * (double)count);
}
