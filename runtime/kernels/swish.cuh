// An element times its sigmoid.
#pragma once
#include "../support/logistic.cuh"
#include "../support/real.cuh"
#include "../support/unary.cuh"

// swish: y = x * s, where s = 1 / (1 + exp(-x)).  The gradient, s + x * s * (1 - s), needs x.
struct swish {
    static __device__ real forward(real x) { return x * logistic(x); }
    static __device__ real gradient(real dy, const real *x, long long i)
    {
        const real s = logistic(x[i]);
        return dy * s * (1 + x[i] * (1 - s));
    }
};
