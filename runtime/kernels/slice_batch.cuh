// Some samples of a batch, where they can't be read where they lie.
#pragma once
#include <stdint.h>
#include "../support/vec/elementwise.cuh"
#include "../support/vec/load.cuh"

// SomeRows: x from element `start` on, which is a multiple of VEC.
template <int VEC, class X = const real *>
struct SomeRows {
    X x;
    long long start;
    __device__ real operator[](long long i) const { return x[start + i]; }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const
    {
        if constexpr (VEC % V == 0) return load_vec<V>(x, start + i);
        else return vec_each<V>(*this, i);
    }
};

// rows_copy: y[i] = x[start + i], [count].  y must not be x.
template <class X = const real *, class Y = real *>
__global__ void rows_copy(Y y, X x, long long start, long long count)
{
    FOR_EACH(i, count) y[i] = x[start + i];
}
