// Counter-based random numbers: without state and order, so the backward pass
// can regenerate a mask, and neither passes nor the batch size change it.  The
// emitted files use the same generator (runtime/support/vec/philox.cuh).
#include "philox.h"

void philox(const uint32_t counter[4], uint64_t key, uint32_t word[4])
{
    uint32_t c[4] = { counter[0], counter[1], counter[2], counter[3] };
    uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);

    for (int round = 0; round < 10; round++) {
        uint64_t first = (uint64_t)0xD2511F53u * c[0];
        uint64_t second = (uint64_t)0xCD9E8D57u * c[2];
        c[0] = (uint32_t)(second >> 32) ^ c[1] ^ low;
        c[1] = (uint32_t)second;
        c[2] = (uint32_t)(first >> 32) ^ c[3] ^ high;
        c[3] = (uint32_t)first;
        low += 0x9E3779B9u;
        high += 0xBB67AE85u;
    }
    for (int j = 0; j < 4; j++) word[j] = c[j];
}
