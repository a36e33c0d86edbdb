// A piecewise linear approximation of the sigmoid.
#pragma once
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// hard_sigmoid: y = min(max(x + 3, 0), 6) / 6; NaN stays.  The gradient needs y alone; it is 0 at y
// = 0 and y = 1.
struct hard_sigmoid {
    static __device__ real forward(real x)
    {
        return x <= -3 ? (real)0 : x >= 3 ? (real)1 : (x + 3) * (real)(1 / 6.0);
    }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i)
    {
        return y[i] <= 0 || y[i] >= 1 ? 0 : dy * (real)(1 / 6.0);
    }
};
