// Maps of reals that are measured, for the scales of integers of 8 bits.
#pragma once
#include <cuda_runtime.h>
#include <type_traits>
#include "load.cuh"

// MapRange: the largest magnitude stored in a map, divided by the largest integer.  In phase COUNTS
// bin i counts magnitudes from i / BINS of the range on, and the last one all above.  In phase
// NOISE, `scale` is final.  The sums are of squares, in units of the scale's: of numbers and of
// their distances to stored integers.  Numbers within the range count in units of 1 / PARTS, and
// numbers beyond it in whole units.
struct MapRange {
    static constexpr int BINS = 2048;
    static constexpr float PARTS = 65536;
    enum Phase : unsigned { RANGE, COUNTS, NOISE };
    struct Squares {
        unsigned long long signal, noise, signal_beyond, noise_beyond;
    };
    float scale;
    unsigned phase;
    union {
        unsigned bin[BINS];
        Squares squares;
    };
};

// add_squares: level: a magnitude in units of the scale.
static __device__ inline void add_squares(MapRange::Squares *to, float level, int most)
{
    const bool beyond = !(rint(level) <= (float)most);
    const float apart = level - (beyond ? (float)most : rint(level));
    const float unit = beyond ? 1 : MapRange::PARTS;
    if (!(level < 1e9f)) return;
    atomicAdd(beyond ? &to->signal_beyond : &to->signal,
              (unsigned long long)rint(level * level * unit));
    atomicAdd(beyond ? &to->noise_beyond : &to->noise,
              (unsigned long long)rint(apart * apart * unit));
}

// measure: takes one magnitude, in units of the largest integer; NaN changes nothing.  Floats that
// are not negative have the order of their bits.
template <int MOST>
static __device__ inline void measure(MapRange *range, float number)
{
    const float scale = *(const volatile float *)&range->scale;
    if (range->phase == MapRange::COUNTS) {
        const float place = number / scale * MapRange::BINS;
        if (place >= 0)
            atomicAdd(&range->bin[place < MapRange::BINS ? (int)place : MapRange::BINS - 1], 1u);
    } else if (range->phase == MapRange::NOISE) {
        add_squares(&range->squares, number / scale * MOST, MOST);
    } else if (number > scale) {
        atomicMax((int *)(void *)&range->scale, __float_as_int(number));
    }
}

// Measured: an array x of reals; what is stored is measured, and MOST is the largest integer.
template <class Array, int MOST>
struct Measured {
    typedef std::remove_reference_t<decltype(std::declval<Array>()[0])> Number;
    Array x;
    MapRange *range;
    // MeasuredElement: an element that can be assigned.
    struct MeasuredElement {
        Number *at;
        MapRange *range;
        __device__ operator real() const { return *at; }
        __device__ MeasuredElement &operator=(real value)
        {
            *at = value;
            measure<MOST>(range, (float)abs(value) / MOST);
            return *this;
        }
    };
    __device__ MeasuredElement operator[](long long i) const { return {&x[i], range}; }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const { return load_vec<V>(x, i); }
    template <int V>
    friend __device__ void store_vec(const Measured &to, long long i, const Vec<V> &v)
    {
        UNROLL for (int j = 0; j < V; j++) measure<MOST>(to.range, (float)abs(v.at[j]) / MOST);
        store_vec(to.x, i, v);
    }
};
