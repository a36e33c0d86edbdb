// Random numbers from a counter: no state, no order, the same on every machine.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

// philox: Philox4x32-10 of Salmon et al. (SC'11): four random words from a counter.
static __device__ inline void philox(uint32_t (&c)[4], uint64_t key)
{
    uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++, low += 0x9E3779B9u, high += 0xBB67AE85u) {
        const uint64_t first = (uint64_t)0xD2511F53u * c[0], second = (uint64_t)0xCD9E8D57u * c[2];
        c[0] = (uint32_t)(second >> 32) ^ c[1] ^ low;
        c[1] = (uint32_t)second;
        c[2] = (uint32_t)(first >> 32) ^ c[3] ^ high;
        c[3] = (uint32_t)first;
    }
}
