// Random numbers from a counter: no state, no order, the same on every machine.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

// RandomWords: what one draw gives.
struct RandomWords {
    uint32_t word[4];
};

// philox: Philox4x32-10 of Salmon et al. (SC'11).  Equal counters and keys give equal words.
static __device__ inline RandomWords philox(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3,
                                            uint64_t key)
{
    uint32_t key_low = (uint32_t)key, key_high = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t first = (uint64_t)0xD2511F53u * c0, second = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(second >> 32) ^ c1 ^ key_low;
        c1 = (uint32_t)second;
        c2 = (uint32_t)(first >> 32) ^ c3 ^ key_high;
        c3 = (uint32_t)first;
        key_low += 0x9E3779B9u;
        key_high += 0xBB67AE85u;
    }
    return {{c0, c1, c2, c3}};
}
