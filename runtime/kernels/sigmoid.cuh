// The sigmoid as an activation.
#pragma once
#include "../support/vec/logistic.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// sigmoid: y = 1 / (1 + exp(-x)).  The gradient needs y alone.
struct sigmoid {
    static __device__ real forward(real x) { return logistic(x); }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i)
    {
        return dy * y[i] * (1 - y[i]);
    }
};
