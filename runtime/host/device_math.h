// Mathematics with the bits of a GPU: the formulas that nvcc 13 has without
// -use_fast_math.  CNNC_HOST_FUSED asks for them: a kernel and nvcc's code of
// it can then be compared bit by bit.  A number of 32 or 64 bits below is a
// float or a double by its bits.
#ifndef CNNC_HOST_DEVICE_MATH_H
#define CNNC_HOST_DEVICE_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "device_language.h"

// ---- float ------------------------------------------------------------------

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

// ---- double -----------------------------------------------------------------

static inline double host_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t host_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
// The sign, the exponent and 20 bits
static inline int32_t host_upper(double value)
{
    return (int32_t)(host_bits(value) >> 32);
}
// x times 2^n, if both it and x are normal
static inline double host_shift(double x, int32_t n)
{
    return host_double(host_bits(x) + ((uint64_t)(uint32_t)n << 52));
}

template <int COUNT>
static inline double host_horner(double x, const uint64_t (&c)[COUNT])
{
    double sum = host_double(c[0]);
    for (int i = 1; i < COUNT; i++) sum = fma(sum, x, host_double(c[i]));
    return sum;
}

// 1 / x: rcp.approx.ftz.f64 gives 20 bits, and a step of third order the rest.
static inline double host_reciprocal(double x)
{
    const uint64_t upper = 0xffffffff00000000;
    double y = host_double(host_bits(1 / host_double(host_bits(x) & upper)) &
                           upper);
    double e = fma(-x, y, 1);
    return fma(fma(e, e, e), y, y);
}

// A pair: the value of more digits is high + low.
struct HostPair { double high, low; };
static inline HostPair host_add(double a, double b)     // |a| >= |b|
{
    double sum = a + b;
    return {sum, b + (a - sum)};
}

// The odd part of log(m) = 2 atanh((m - 1) / (m + 1)): t = 2 (m - 1) / (m + 1)
// and what its rounding lost.  x = m 2^n, where m is about 1.
static inline HostPair host_split_log(double x, int32_t from, int32_t *n)
{
    int32_t upper = host_upper(x);
    *n = from + (int32_t)((uint32_t)upper >> 20);
    double m = host_double((host_bits(x) & 0x000fffffffffffff) |
                           0x3ff0000000000000);
    if (host_upper(m) >= 1073127583) {
        m = host_shift(m, -1);
        ++*n;
    }
    double over = host_reciprocal(m + 1), less = m - 1;
    double t = less * over;
    t += t;
    double lost = less - t;
    return {t, over * fma(-t, less, lost + lost)};
}

// n log(2) + t, and what its rounding lost, of a value with more digits
static inline HostPair host_add_log2(int32_t n, HostPair t)
{
    double log2 = host_double(0x3fe62e42fefa39ef);
    double sum = fma((double)n, log2, t.high);
    double rest = t.low - (fma(-(double)n, log2, sum) - t.high);
    return {sum, fma((double)n, host_double(0x3c7abc9e3b39803f), rest)};
}

static inline double host_log(double x)
{
    static const uint64_t factors[] = {
        0x3eb1380b3ae80f1e, 0x3ed0ee258b7a8b04, 0x3ef3b2669f02676f,
        0x3f1745cba9ab0956, 0x3f3c71c72d1b5154, 0x3f624924923be72d,
        0x3f8999999999a3c4, 0x3fb5555555555554,
    };
    bool is_small = host_upper(x) < 0x100000;
    if (is_small) x *= 0x1p54;
    if ((uint32_t)host_upper(x) - 1 >= 0x7fefffffu)
        return x == 0 ? -INFINITY : fma(x, INFINITY, INFINITY);
    int32_t n;
    HostPair t = host_split_log(x, is_small ? -1077 : -1023, &n);
    double square = t.high * t.high;
    t.low = fma(square * host_horner(square, factors), t.high, t.low);
    HostPair y = host_add_log2(n, t);
    return y.high + y.low;
}

// exp(x) = 2^n exp(r), as in float; 2^n in two steps near the ends
static inline double host_exp(double x)
{
    static const uint64_t factors[] = {
        0x3e5ade1569ce2bdf, 0x3e928af3fca213ea, 0x3ec71dee62401315,
        0x3efa01997c89eb71, 0x3f2a01a014761f65, 0x3f56c16c1852b7af,
        0x3f81111111122322, 0x3fa55555555502a1, 0x3fc5555555555511,
        0x3fe000000000000b, 0x3ff0000000000000, 0x3ff0000000000000,
    };
    double shifted = fma(x, host_double(0x3ff71547652b82fe), 0x1.8p52);
    int32_t n = (int32_t)host_bits(shifted);
    double whole = shifted - 0x1.8p52;
    double r = fma(whole, host_double(0xbfe62e42fefa39ef), x);
    r = fma(whole, host_double(0xbc7abc9e3b39803f), r);
    double power = host_horner(r, factors);
    int32_t size = host_upper(x) & 0x7fffffff;
    if (size < 0x4086232b) return host_shift(power, n);
    if (size >= 0x40874800) return x < 0 ? 0 : x + INFINITY;
    int32_t half = n / 2;
    return host_shift(power, half) * host_shift(1, n - half);
}

// x^y = exp(y log(x)) of a positive x, with a logarithm of two doubles
static inline double host_pow_positive(double x, double y)
{
    static const uint64_t factors[] = {
        0x3eb0f5ff7d2cafe2, 0x3ed0f5d241ad3b5a, 0x3ef3b20a75488a3f,
        0x3f1745cde4faecd5, 0x3f3c71c7258a578b, 0x3f6249249242b910,
        0x3f89999999999dfb,
    };
    bool is_small = host_upper(x) < 0x100000;
    if (is_small) x *= 0x1p54;
    int32_t n;
    HostPair t = host_split_log(x, is_small ? -1077 : -1023, &n);
    double square = t.high * t.high;
    // log(m) = t + t^3 (1/12 + more), each with what its rounding lost
    double more = square * host_horner(square, factors);
    double twelfth = host_double(0x3fb5555555555555), first = more + twelfth;
    double lost = more + (twelfth - first) + 0.0;
    HostPair c = host_add(first, lost + host_double(0xbc46a4cb00b9e7b0));
    double square_lost = fma(t.high, t.low + t.low,
                             fma(t.high, t.high, -square));
    double cube = square * t.high;
    double cube_lost = fma(square_lost, t.high,
                           fma(square, t.low, fma(square, t.high, -cube)));
    double tail = c.high * cube;
    HostPair p = host_add(tail, fma(c.low, cube,
                                    fma(c.high, cube_lost,
                                        fma(c.high, cube, -tail))));
    HostPair s = host_add(t.high, p.high);
    HostPair log_m = host_add(s.high, t.low + (p.low + s.low));
    HostPair l = host_add_log2(n, log_m);
    l = host_add(l.high, l.low);
    // A huge y loses bits of its exponent, so that the products are finite.
    uint64_t bits = host_bits(y);
    if ((uint32_t)(bits >> 32) << 1 > 0xfdffffffu)
        bits &= ~(0x00f00000ull << 32);
    double scaled = host_double(bits), product = l.high * scaled;
    HostPair e = host_add(product, fma(l.low, scaled,
                                       fma(l.high, scaled, -product)));
    double power = host_exp(e.high);
    return isinf(power) ? power : fma(power, e.low, power);
}

static inline double host_pow(double x, double y)
{
    if (x == 1 || y == 0) return 1;
    if (x != x || y != y) return x + y;
    // Kernels take powers of positive numbers; others are the host's own.
    if (!(x > 0) || isinf(x) || isinf(y)) return pow(x, y);
    return host_pow_positive(x, y);
}

// sin(x) or cos(x): x less a whole number of right angles in three parts, and
// a polynomial of that.  Beyond 2^31 it is the host's own.
static inline double host_sine(double x, int32_t quarter)
{
    static const uint64_t of_sin[] = {
        0x3de5db65f9785eba, 0xbe5ae5f12cb0d246, 0x3ec71de369ace392,
        0xbf2a01a019db62a1, 0x3f81111111110818, 0xbfc5555555555554, 0,
    };
    static const uint64_t of_cos[] = {
        0xbda8ff8320fd8164, 0x3e21eea7c1ef8528, 0xbe927e4f8e06e6d9,
        0x3efa01a019ddbce9, 0xbf56c16c16c15d47, 0x3fa5555555555551,
        0xbfe0000000000000, 0x3ff0000000000000,
    };
    int32_t turns = (int32_t)nearbyint(x * host_double(0x3fe45f306dc9c883));
    double whole = turns;               // 0, not -0
    double r = fma(-whole, host_double(0x3ff921fb54442d18), x);
    r = fma(-whole, host_double(0x3c91a62633145c00), r);
    r = fma(-whole, host_double(0x397b839a252049c0), r);
    quarter += turns;
    double square = r * r;
    double y = quarter % 2 ? host_horner(square, of_cos)
                           : fma(host_horner(square, of_sin), r, r);
    return quarter & 2 ? fma(y, -1, 0) : y;
}
static inline double host_sin(double x)
{
    return fabs(x) < 0x1p31 ? host_sine(x, 0) : sin(x);
}
static inline double host_cos(double x)
{
    return fabs(x) < 0x1p31 ? host_sine(x, 1) : cos(x);
}

static inline double host_expm1(double x) { return expm1(x); }
static inline double host_log1p(double x) { return log1p(x); }
static inline double host_tanh(double x) { return tanh(x); }
static inline double host_erfc(double x) { return erfc(x); }

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
