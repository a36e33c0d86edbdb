// Replaces CUDA's header of bfloat16: storage and conversions, without
// arithmetic.
#ifndef CNNC_HOST_CUDA_BF16_H
#define CNNC_HOST_CUDA_BF16_H

#include <stdint.h>
#include <string.h>

struct __nv_bfloat16 { uint16_t bits; };

// Rounds to nearest, ties to even; values too large become infinite by the
// carry.
static inline __nv_bfloat16 __float2bfloat16_rn(float x)
{
    uint32_t word;
    memcpy(&word, &x, sizeof word);
    if ((word & 0x7fffffffu) > 0x7f800000u) return {0x7fff};    // NaN
    word += 0x7fffu + (word >> 16 & 1);
    return {(uint16_t)(word >> 16)};
}

static inline float __bfloat162float(__nv_bfloat16 x)
{
    const uint32_t word = (uint32_t)x.bits << 16;
    float result;
    memcpy(&result, &word, sizeof result);
    return result;
}

#endif
