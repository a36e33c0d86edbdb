// Rounding of floats, exact in every mode and independent of the processor's.
// A wider value is computed first, rounded to odd: a second rounding from it is
// that of the exact value.
#ifndef CNNC_PTX_ROUNDING_H
#define CNNC_PTX_ROUNDING_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace ptx {

enum class Rounding : uint8_t { NEAREST, ZERO, DOWN, UP };

constexpr Rounding ROUNDINGS[] = {Rounding::NEAREST, Rounding::ZERO,
                                  Rounding::DOWN, Rounding::UP};
// Modifiers of them: of floats, and of floats to whole numbers.
constexpr const char *ROUNDING_NAMES[] = {".rn", ".rz", ".rm", ".rp"};
constexpr const char *WHOLE_NAMES[] = {".rni", ".rzi", ".rmi", ".rpi"};

template <class To, class From>
inline To bits_as(From from)
{
    static_assert(sizeof(To) == sizeof(From), "");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

// The NaN of instructions that do not keep a payload.
constexpr uint32_t NAN_BITS = 0x7fffffff;
constexpr uint64_t NAN_BITS_64 = 0x7fffffffffffffff;
constexpr uint16_t NAN_BITS_16 = 0x7fff;

// .ftz: a subnormal number becomes 0 of its sign.
inline float flush(float a)
{
    const uint32_t bits = bits_as<uint32_t>(a);
    return bits_as<float>(bits & 0x7f800000 ? bits : bits & 0x80000000);
}

inline double flush(double a)
{
    const uint64_t bits = bits_as<uint64_t>(a), sign = 1ull << 63;
    return bits_as<double>(bits & 0x7ffull << 52 ? bits : bits & sign);
}

// .sat: to [0, 1], and NaN to 0
template <class T>
inline T saturate(T a)
{
    return a > 0 ? a < 1 ? a : (T)1 : (T)0;
}

// A value, and what is missing in it or at least its sign.
struct Exact {
    double value, error;
};

inline Exact exact_sum(double a, double b)
{
    const double sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

// The next double in the direction of the error, if x is even.
inline double round_to_odd(Exact x)
{
    const uint64_t bits = bits_as<uint64_t>(x.value);
    const bool above = x.error > 0, below = x.error < 0;    // not of NaN
    const bool grows = bits >> 63 ? below : above;
    const uint64_t step = grows ? 1 : -1ull;
    return bits_as<double>(bits + ((above | below) & ~bits & 1 ? step : 0));
}

// x, which is exact or rounded to odd
template <Rounding R>
inline float rounded(double x)
{
    const float near = (float)x;
    if (R == Rounding::NEAREST) return near;
    const uint32_t bits = bits_as<uint32_t>(near);
    const uint32_t more = std::fabs((double)near) > std::fabs(x);
    const uint32_t less = std::fabs((double)near) < std::fabs(x);
    const bool outwards =
        R != Rounding::ZERO && (R == Rounding::DOWN) == (bits >> 31);
    return bits_as<float>(outwards ? bits + less : bits - more);
}

template <Rounding R>
inline double rounded_double(Exact x)
{
    const uint64_t bits = bits_as<uint64_t>(x.value);
    const bool negative = bits >> 63;
    const uint64_t more = negative ? x.error > 0 : x.error < 0;
    const uint64_t less = negative ? x.error < 0 : x.error > 0;
    if (R == Rounding::NEAREST) return x.value;
    const bool outwards =
        R != Rounding::ZERO && (R == Rounding::DOWN) == negative;
    return bits_as<double>(outwards ? bits + less : bits - more);
}

// To a whole number
template <Rounding R>
inline double whole(double x)
{
    if (R == Rounding::ZERO) return std::trunc(x);
    if (R == Rounding::DOWN) return std::floor(x);
    if (R == Rounding::UP) return std::ceil(x);
    const double magnitude = std::fabs(x), big = 0x1p52;
    return magnitude < big ? std::copysign(magnitude + big - big, x) : x;
}

// ---- floats of 16 bits ------------------------------------------------------

// A format: bits of the fraction, the least exponent, the bits of infinity.
struct Half { static constexpr int FRACTION = 10, LEAST = -14, INF = 0x7c00; };
struct Brain { static constexpr int FRACTION = 7, LEAST = -126, INF = 0x7f80; };

template <class Format>
inline uint16_t narrowed(double x, Rounding mode)
{
    const uint64_t bits = bits_as<uint64_t>(x);
    const uint16_t sign = (uint16_t)(bits >> 63 << 15);
    if (x != x) return NAN_BITS_16;
    if (std::isinf(x)) return sign | Format::INF;
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    const int unit = exponent > Format::LEAST ? exponent : Format::LEAST;
    // The last bit of the result is bit `shift` of the significand.
    int shift = 52 - Format::FRACTION + unit - exponent;
    if (shift > 62) shift = 62;
    const uint64_t implicit = exponent == -1023 ? 0 : 1ull << 52;
    const uint64_t significand = (bits & ((1ull << 52) - 1)) | implicit;
    const uint64_t rest = significand & ((1ull << shift) - 1);
    const uint64_t half = 1ull << (shift - 1);
    uint64_t to = (significand >> shift) +
                  ((uint64_t)(unit - Format::LEAST) << Format::FRACTION);
    if (mode == Rounding::NEAREST)
        to += rest > half || (rest == half && to & 1);
    else if (mode == (sign ? Rounding::DOWN : Rounding::UP))
        to += rest != 0;
    if (to >= (uint64_t)Format::INF) {
        const bool inwards = mode == Rounding::ZERO ||
                             mode == (sign ? Rounding::UP : Rounding::DOWN);
        to = (uint64_t)(Format::INF - inwards);
    }
    return (uint16_t)(sign | to);
}

// To nearest, for vectors
inline uint16_t half_of(float x)
{
    const uint32_t bits = bits_as<uint32_t>(x), sign = bits & 0x80000000;
    const uint32_t magnitude = bits ^ sign;
    // A float near 0.5 has the unit of a subnormal half.
    const uint32_t small =
        bits_as<uint32_t>(bits_as<float>(magnitude) + 0.5f) - 0x3f000000;
    const uint32_t normal =
        (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    uint32_t to = magnitude < 0x38800000 ? small : normal;
    to = magnitude < 0x47800000 ? to : 0x7c00;
    to |= sign >> 16;
    return (uint16_t)(magnitude > 0x7f800000 ? NAN_BITS_16 : to);
}

inline uint16_t brain_of(float x)
{
    const uint32_t bits = bits_as<uint32_t>(x);
    const uint32_t to = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? NAN_BITS_16 : to);
}

inline float float_of_half(uint16_t half)
{
    const uint32_t shifted = (half & 0x7fffu) << 13;
    const uint32_t exponent = shifted & 0x0f800000;
    // A subnormal one is a normal one without the least normal number.
    const float least = 0x1p-14f;
    const float small =
        bits_as<float>(shifted + bits_as<uint32_t>(least)) - least;
    uint32_t bits = shifted + ((exponent == 0x0f800000 ? 224u : 112u) << 23);
    bits = exponent ? bits : bits_as<uint32_t>(small);
    return bits_as<float>(bits | (half & 0x8000u) << 16);
}

inline float float_of_brain(uint16_t brain)
{
    return bits_as<float>((uint32_t)brain << 16);
}

// To 10 bits of a fraction; half a unit goes away from 0.
inline uint32_t tf32_of(float x)
{
    const uint32_t bits = bits_as<uint32_t>(x);
    const bool finite = (bits & 0x7f800000) != 0x7f800000;
    return finite ? (bits + 0x1000) & ~0x1fffu : bits;
}

}

#endif
