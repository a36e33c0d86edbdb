// Exponential linear units.
#pragma once
#include <math.h>
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// elu: y = x > 0 ? x : alpha * (exp(x) - 1).  The gradient needs y alone, because alpha >= 0.
struct elu {
    static __device__ real forward(real x, real alpha) { return x > 0 ? x : alpha * expm1(x); }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i, real alpha)
    {
        return y[i] > 0 ? dy : dy * (y[i] + alpha);
    }
};
