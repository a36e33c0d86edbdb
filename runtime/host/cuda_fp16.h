// Replaces CUDA's header of half precision: storage and conversions, without
// arithmetic.
#ifndef CNNC_HOST_CUDA_FP16_H
#define CNNC_HOST_CUDA_FP16_H

#include <stdint.h>
#include <string.h>

struct __half { uint16_t bits; };

// Rounds to nearest, ties to even.  Below the smallest normal number, 2^-14, a
// half is a multiple of 2^-24, like a float from 1/2 on, so adding 1/2 rounds
// to it.
static inline __half __float2half_rn(float x)
{
    uint32_t word;
    memcpy(&word, &x, sizeof word);
    const uint32_t sign = word >> 16 & 0x8000u;
    word &= 0x7fffffffu;
    if (word > 0x7f800000u) return {0x7fff};                    // NaN
    if (word >= 0x477ff000u) return {(uint16_t)(sign | 0x7c00u)};
    if (word < 0x38800000u) {
        float small;
        memcpy(&small, &word, sizeof small);
        small += 0.5f;
        memcpy(&word, &small, sizeof word);
        return {(uint16_t)(sign | (word - 0x3f000000u))};
    }
    word += 0xfffu + (word >> 13 & 1);
    return {(uint16_t)(sign | (word - 0x38000000u) >> 13)};
}

static inline float __half2float(__half x)
{
    const uint32_t sign = (uint32_t)(x.bits & 0x8000u) << 16;
    const uint32_t exponent = x.bits >> 10 & 31u, digits = x.bits & 0x3ffu;
    uint32_t word = sign | (exponent + 112) << 23 | digits << 13;
    float result;
    if (exponent == 31) word = sign | 0x7f800000u | digits << 13;
    if (exponent == 0) {
        result = (float)digits * 0x1p-24f;
        return sign ? -result : result;
    }
    memcpy(&result, &word, sizeof result);
    return result;
}

#endif
