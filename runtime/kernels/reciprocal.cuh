// Reciprocals.
#pragma once
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// reciprocal: y = 1 / x.  The gradient, -dy * y * y, needs y alone.
struct reciprocal {
    static __device__ real forward(real x) { return 1 / x; }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i)
    {
        const real v = y[i];
        return -dy * v * v;
    }
};
