// A tensor times a number; integers become real.
#pragma once
#include <stdint.h>
#include "../support/vec/elementwise.cuh"
#include "../support/vec/load.cuh"
#include "../support/vec/real.cuh"

// ScaleLoad: factor * x.
template <class Source>
struct ScaleLoad {
    const Source *x;
    real factor;
    __device__ real operator[](long long i) const { return factor * (real)x[i]; }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const { return vec_each<V>(*this, i); }
};

// scale_forward: y = ScaleLoad, [count].  y may be x where x is real.
template <class Source, class Y = real *>
__global__ void scale_forward(Y y, const Source *x, real factor, long long count)
{
    const ScaleLoad<Source> made = {x, factor};
    FOR_EACH(i, count) y[i] = made[i];
}
