// A piecewise quadratic approximation of swish.
#pragma once
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// hard_swish: y = x * min(max(x + 3, 0), 6) / 6; NaN stays.  The gradient needs x.
struct hard_swish {
    static __device__ real forward(real x)
    {
        return x <= -3 ? (real)0 : x >= 3 ? x : x * (x + 3) * (real)(1 / 6.0);
    }
    template <class X>
    static __device__ real gradient(real dy, X x, long long i)
    {
        const real v = x[i];
        return v < -3 ? (real)0 : v > 3 ? dy : dy * (v * (real)(1 / 3.0) + (real)0.5);
    }
};
