// Mathematics with the bits of a GPU: the formulas that nvcc 13 has without
// -use_fast_math.  CNNC_HOST_FUSED asks for them: a kernel and nvcc's code of
// it can then be compared bit by bit.  An integer of 32 bits below is a float
// by its bits.
#ifndef CNNC_HOST_DEVICE_MATH_H
#define CNNC_HOST_DEVICE_MATH_H

#include <math.h>
#include <stdint.h>
#include "device_language.h"
#include "device_math_double.h"

// sum = c[0] x^(count - 1) + ... + c[count - 1], by Horner
template <int COUNT>
static inline float host_horner(float x, const uint32_t (&c)[COUNT])
{
    float sum = __uint_as_float(c[0]);
    for (int i = 1; i < COUNT; i++) sum = fmaf(sum, x, __uint_as_float(c[i]));
    return sum;
}

// 2^x by ex2.approx.ftz, here rounded correctly; results below 2^-126 are 0.
static inline float host_exp2(float x)
{
    float y = (float)exp2((double)x);
    return fabsf(y) < 0x1p-126f ? 0.0f : y;
}

// 1 / x by rcp.approx.ftz, likewise
static inline float host_reciprocal(float x)
{
    float y = fabsf(x) < 0x1p-126f ? copysignf(INFINITY, x) : 1 / x;
    return fabsf(y) < 0x1p-126f ? copysignf(0, y) : y;
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

// exp(x) - 1 = 2^n (exp(r) - 1) + 2^n - 1, where x = n log(2) + r, and n = 0 of
// a small x; exp(r) - 1 is a polynomial.  2^128 is twice 2^127.
static inline float host_expm1(float x)
{
    static const uint32_t factors[] = {
        0x3ab5ebe6, 0x3c095663, 0x3d2aabe3, 0x3e2aa9f6, 0x3efffffe,
    };
    float n = rintf(x * __uint_as_float(0x3fb8aa3b));
    if (fabsf(x) < __uint_as_float(0x3ed1eb85)) n = 0;
    float r = fmaf(-n, __uint_as_float(0x3f317200), x);
    r = fmaf(-n, __uint_as_float(0x35bfbe8e), r);
    bool is_top = n == 128;
    if (is_top) n = 127;
    float small = fmaf(r * host_horner(r, factors), r, r);
    float power = (float)exp2((double)n);
    float y = fmaf(small, power, power - 1);
    if (is_top) y += y;
    if (n > 128) y = INFINITY;
    if (n < -25) y = -1;
    return x == 0 ? x + x : y;
}

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
    float y = fmaf(n, __uint_as_float(0x3f317218),
                   fmaf(m * host_horner(m, factors), m, m));
    if (bits > 0x7f7fffffu) y = fmaf(scaled, INFINITY, INFINITY);
    return scaled == 0 ? -INFINITY : y;
}

// log(1 + x) = n log(2) + log(1 + m), where 1 + m = 2^-n (1 + x)
static inline float host_log1p(float x)
{
    static const uint32_t factors[] = {
        0xbd39bf78, 0x3dd80012, 0xbe0778e0, 0x3e146475, 0xbe2a68dd,
        0x3e4caf9e, 0xbe800042, 0x3eaaaae6, 0xbf000000,
    };
    // Rounded to zero; the exponent alone counts.
    double sum = (double)x + 1;
    float near = (float)sum;
    if (fabs((double)near) > fabs(sum)) near = nextafterf(near, 0);
    uint32_t bits = __float_as_uint(x);
    uint32_t exponent = (__float_as_uint(near) - 0x3f400000u) & 0xff800000u;
    float power = __uint_as_float(0x40800000u - exponent);      // 4 * 2^-n
    float m = fmaf(0.25f, power, -1) + __uint_as_float(bits - exponent);
    float n = (float)(int32_t)exponent * 0x1p-23f;
    float y = fmaf(n, __uint_as_float(0x3f317218),
                   fmaf(m * host_horner(m, factors), m, m));
    if (bits < 0x7f800000u) return y;
    if ((int32_t)bits >= (int32_t)0xbf800001u) y = fmaf(x, INFINITY, INFINITY);
    return x == 0 ? -0.0f : y;
}

// tanh(x) = 1 - 2 / (exp(2x) + 1); a polynomial below 0.6
static inline float host_tanh(float x)
{
    static const uint32_t factors[] = {
        0x3c80f082, 0xbd563cae, 0x3e085941, 0xbeaaa9ed, 0,
    };
    float size = fabsf(x);
    if (!(size >= __uint_as_float(0x3f19999a)))
        return fmaf(host_horner(x * x, factors), x, x);
    float power = host_exp2(size * __uint_as_float(0x4038aa3b));
    float y = fmaf(host_reciprocal(power + 1), -2, 1);
    return copysignf(size >= __uint_as_float(0x41102cb4) ? 1 : y, x);
}

// erfc(a) = exp(-a^2) p(q) / (1 + 2a) of a = |x|, where q = (a - 4) / (a + 4),
// and p is a polynomial; 2 - erfc(a) of negative ones.
static inline float host_erfc(float x)
{
    static const uint32_t factors[] = {
        0x3a69a091, 0x3be6e05b, 0xbc81fb4b, 0x3d15373b, 0xbd887c5a, 0x3dc021d5,
        0xbdced424, 0x3d8b74de, 0x3c7bf170, 0xbe0ef8d4, 0x3f9dd2c9,
    };
    float a = fabsf(x), part = host_reciprocal(a + 4), q = (a - 4) * part;
    float rest = fmaf(-q, a, fmaf(-4, q + 1, a));
    float p = host_horner(fmaf(part, rest, q), factors);
    float over = host_reciprocal(fmaf(2, a, 1)), y = p * over;
    y = fmaf(fmaf(a, y * -2, p) - y, over, y);
    float square = a * a, n = truncf(-square * __uint_as_float(0x3fb8aa3b));
    if (fabsf(n) > 126) n = copysignf(126, n);
    float r = fmaf(n, __uint_as_float(0xbf317218), -square);
    r = fmaf(n, __uint_as_float(0x3102e308), r);
    float power = __uint_as_float(__float_as_uint(n + 12583039.0f) << 23);
    power *= host_exp2(r * __uint_as_float(0x3fb8aa3b));
    power = fmaf(power, fmaf(-a, a, square), power);
    y = a > __uint_as_float(0x4120e148) ? 0 : y * power;
    return x < 0 ? 2 - y : y;
}

#define exp host_exp
#define expm1 host_expm1
#define log host_log
#define log1p host_log1p
#define tanh host_tanh
#define erfc host_erfc
#define pow host_pow
#define sin host_sin
#define cos host_cos

#endif
