// Quantization-aware training: numbers rounded to integers of 8 bits times a scale.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>
#include "../support/vec/elementwise.cuh"
#include "../support/vec/load.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"
#include "../support/vec/scaled.cuh"
#include "../support/vec/unroll.cuh"

// fake_quantized: x as an Integer times scale; with the scale 0 it is x.
template <class Integer>
static __device__ inline real fake_quantized(real x, real scale, real inverse)
{
    return scale == 0 ? x : as_integer<Integer>(x, inverse) * scale;
}

// FakeQuantized: an array x, rounded when it is read.  Rows of WIDTH elements have a scale each; if
// WIDTH is 0, all have the first.
template <class Integer, long long WIDTH, class X = const real *>
struct FakeQuantized {
    X x;
    const real *scale;
    __device__ real scale_at(long long i) const
    {
        if constexpr (WIDTH == 0) return *scale;
        else return scale[(unsigned long long)i / WIDTH];
    }
    __device__ real operator[](long long i) const
    {
        const real own = scale_at(i);
        return fake_quantized<Integer>(x[i], own, 1 / own);
    }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const
    {
        const Vec<V> from = load_vec<V>(x, i);
        Vec<V> v;
        if (WIDTH % V == 0) {
            const real own = scale_at(i), inverse = 1 / own;
            UNROLL for (int j = 0; j < V; j++)
                v.at[j] = fake_quantized<Integer>(from.at[j], own, inverse);
        } else {
            UNROLL for (int j = 0; j < V; j++) {
                const real own = scale_at(i + j);
                v.at[j] = fake_quantized<Integer>(from.at[j], own, 1 / own);
            }
        }
        return v;
    }
};

// fake_quantize_forward: y[i] = x[i], both [count]; a thread takes V elements.  y may be x's array.
template <int V, class X, class Y = real *>
__global__ void fake_quantize_forward(X x, Y y, long long count)
{
    FOR_EACH(k, count / V) store_vec(y, k * V, load_vec<V>(x, k * V));
}

// Inside: 1 where x, rounded to an Integer, is within the limits and Act's gradient at x is dy;
// else 0.
template <class Integer, class Act, class X = const real *>
struct Inside {
    static constexpr bool POSITIVE = std::is_same_v<Integer, uint8_t>;
    static constexpr real LEAST = POSITIVE ? 0 : -127, MOST = POSITIVE ? 255 : 127;
    X x;
    const real *scale;
    __device__ real operator[](long long i) const
    {
        const real used = *scale, q = used == 0 ? (real)0 : rint(x[i] * (1 / used));
        return q >= LEAST && q <= MOST && Act::gradient((real)1, x, i) != 0 ? (real)1 : (real)0;
    }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const { return vec_each<V>(*this, i); }
};

// fake_quantize_inside: passes[i] = x[i], both [count].  passes may be x's array.
template <class X, class Passes = real *>
__global__ void fake_quantize_inside(X x, Passes passes, long long count)
{
    FOR_EACH(i, count) passes[i] = x[i];
}

// fake_quantize_largest: largest [gridDim.x] has the largest magnitude of each block's part of x
// [samples, width], divided by `most`, and of its part of before [before_count].  A thread takes V
// elements.
template <int V, class X = const real *>
__global__ void fake_quantize_largest(real *largest, X x, const real *before,
                                      long long before_count, long long samples, long long width,
                                      int most)
{
    real found = 0;
    const long long count = samples * width, stride = (long long)gridDim.x * blockDim.x;
    const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (long long k = first; k < (count + V - 1) / V; k += stride) {
        const auto from = load_lazy<V>(x, k * V);
        UNROLL for (int j = 0; j < V; j++)
            if (k * V + j < count) found = max(found, (real)abs(from[k * V + j]) / (real)most);
    }
    for (long long k = first; k < before_count; k += stride) found = max(found, before[k]);
    found = block_max(found);
    if (threadIdx.x == 0) largest[blockIdx.x] = found;
}
