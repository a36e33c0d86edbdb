// Mathematics of doubles with the bits of a GPU: device_math.h.  An integer of
// 64 bits below is a double by its bits.
#ifndef CNNC_HOST_DEVICE_MATH_DOUBLE_H
#define CNNC_HOST_DEVICE_MATH_DOUBLE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

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

// Only kernels in double have these, and none is compared.
static inline double host_expm1(double x) { return expm1(x); }
static inline double host_log1p(double x) { return log1p(x); }
static inline double host_tanh(double x) { return tanh(x); }
static inline double host_erfc(double x) { return erfc(x); }

#endif
