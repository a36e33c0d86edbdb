// Maps stored as integers of 8 bits with a scale, and weights of which each row has one.
#pragma once
#include <stdint.h>
#include <type_traits>
#include "load.cuh"

// as_integer: the T nearest to x times `inverse`, ties to even, from -127 on; NaN is the least one.
template <class T>
static __device__ inline real as_integer(real x, real inverse)
{
    constexpr int LEAST = std::is_same_v<T, uint8_t> ? 0 : -127;
    constexpr int MOST = std::is_same_v<T, uint8_t> ? 255 : 127;
    return min(max(rint(x * inverse), (real)LEAST), (real)MOST);
}

// Scaled: an array of reals, stored as integers times *scale in an array x of integers.
template <class Array>
struct Scaled {
    typedef std::remove_reference_t<decltype(std::declval<Array>()[0])> Integer;
    Array x;
    const real *scale;
    // Element: an element that can be assigned.
    struct Element {
        Integer *at;
        const real *scale;
        __device__ operator real() const { return (real)*at * *scale; }
        __device__ void operator=(real value) const
        {
            *at = (Integer)as_integer<Integer>(value, 1 / *scale);
        }
    };
    __device__ Element operator[](long long i) const { return {&x[i], scale}; }
    __device__ Scaled operator+(long long i) const { return {x + i, scale}; }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const
    {
        const real factor = *scale;
        Vec<V> v = load_vec<V>(x, i);
        UNROLL for (int j = 0; j < V; j++) v.at[j] = v.at[j] * factor;
        return v;
    }
    template <int V>
    friend __device__ void store_vec(const Scaled &to, long long i, const Vec<V> &v)
    {
        const real inverse = 1 / *to.scale;
        Vec<V> integers;
        UNROLL for (int j = 0; j < V; j++)
            integers.at[j] = as_integer<Integer>(v.at[j], inverse);
        store_vec(to.x, i, integers);
    }
};

// ScaledRows: an array of integers in rows of WIDTH elements; row k is times scale[k].  In those
// from `begin` on, scale is the one of that row.
template <long long WIDTH>
struct ScaledRows {
    const int8_t *x;
    const real *scale;
    long long begin = 0;
    __device__ ScaledRows row(long long k) const { return {x, scale + k, k * WIDTH}; }
    __device__ real operator[](long long i) const
    {
        return (real)x[i] * scale[(unsigned long long)(i - begin) / WIDTH];
    }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const
    {
        Vec<V> v = load_vec<V>(x, i);
        UNROLL for (int j = 0; j < V; j++)
            v.at[j] = v.at[j] * scale[(unsigned long long)(i + j - begin) / WIDTH];
        return v;
    }
};
