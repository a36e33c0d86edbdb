// Two straight lines and a parabola in the place of a swish.
#pragma once
#include "../support/real.cuh"
#include "../support/unary.cuh"

// hard_swish: y = x * min(max(x + 3, 0), 6) / 6, a NaN stays one.  The gradient needs x.
struct hard_swish {
    static __device__ real forward(real x)
    {
        return x <= -3 ? (real)0 : x >= 3 ? x : x * (x + 3) * (real)(1 / 6.0);
    }
    static __device__ real gradient(real dy, const real *x, long long i)
    {
        return x[i] < -3 ? (real)0 : x[i] > 3 ? dy : dy * (x[i] * (real)(1 / 3.0) + (real)0.5);
    }
};
