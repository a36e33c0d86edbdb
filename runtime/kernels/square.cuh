// Squares.
#pragma once
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// squared: y = x * x.  The gradient, 2 * dy * x, needs x.
struct squared {
    static __device__ real forward(real x) { return x * x; }
    template <class X>
    static __device__ real gradient(real dy, X x, long long i)
    {
        return 2 * dy * x[i];
    }
};
