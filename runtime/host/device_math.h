// Mathematics with the bits of a GPU: the formulas that nvcc 13 has for exp and
// log of a float without -use_fast_math.  CNNC_HOST_FUSED asks for them: a
// kernel and nvcc's code of it can then be compared bit by bit.
#ifndef CNNC_HOST_DEVICE_MATH_H
#define CNNC_HOST_DEVICE_MATH_H

#include <math.h>
#include <stdint.h>
#include "device_language.h"

// 2^x by ex2.approx.ftz, here rounded correctly; results below 2^-126 are 0.
static inline float host_exp2(float x)
{
    float y = (float)exp2((double)x);
    return fabsf(y) < 0x1p-126f ? 0.0f : y;
}

// exp(x) = 2^n 2^r: n is found by rounding x log2(e) to an integer in a float
// of 1.5 * 2^23, between -126 and 126; r takes log2(e) in two parts.
static inline float host_exp(float x)
{
    float part = fmaf(x, __uint_as_float(0x3bbb989d), 0.5f);
    part = part > 0 ? part < 1 ? part : 1.0f : 0.0f;    // NaN becomes 0
    float n = 12582913.0f + (float)floor((double)part * 252);
    float r = fmaf(x, __uint_as_float(0x3fb8aa3b), -(n - 12583039.0f));
    r = fmaf(x, __uint_as_float(0x32a57060), r);
    return host_exp2(r) * __uint_as_float(__float_as_uint(n) << 23);
}
static inline double host_exp(double x) { return exp(x); }

// log(x) = n log(2) + log(1 + m): a polynomial of m, which is at most 1/3.
static inline float host_log(float x)
{
    static const uint32_t factors[] = {
        0xbe055027, 0x3e1039f6, 0xbdf8cdcc, 0x3e0f2955, 0xbe2ad8b9,
        0x3e4ced0b, 0xbe7fff22, 0x3eaaaa78, 0xbf000000,
    };
    bool is_small = x < 0x1p-126f;
    float scaled = is_small ? x * 0x1p23f : x;
    uint32_t bits = __float_as_uint(scaled);
    uint32_t exponent = (bits - 1059760811u) & 0xff800000u;
    float n = fmaf((float)(int32_t)exponent, 0x1p-23f,
                   is_small ? -23.0f : 0.0f);
    float m = __uint_as_float(bits - exponent) - 1.0f;
    float sum = __uint_as_float(factors[0]);
    for (int i = 1; i < 9; i++) sum = fmaf(sum, m, __uint_as_float(factors[i]));
    float y = fmaf(n, __uint_as_float(0x3f317218), fmaf(m * sum, m, m));
    if (bits > 0x7f7fffffu) y = fmaf(scaled, INFINITY, INFINITY);
    return scaled == 0 ? -INFINITY : y;
}
static inline double host_log(double x) { return log(x); }

#define exp host_exp
#define log host_log

#endif
