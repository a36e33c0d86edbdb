// The sigmoid as an activation.
#pragma once
#include "../support/logistic.cuh"
#include "../support/real.cuh"
#include "../support/unary.cuh"

// sigmoid: y = 1 / (1 + exp(-x)).  The gradient needs y alone.
struct sigmoid {
    static __device__ real forward(real x) { return logistic(x); }
    static __device__ real gradient(real dy, const real *y, long long i)
    {
        return dy * y[i] * (1 - y[i]);
    }
};
