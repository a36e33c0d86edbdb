// An element times its sigmoid.
#pragma once
#include "../support/vec/logistic.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// swish: y = x * s, where s = 1 / (1 + exp(-x)).  The gradient, s + x * s * (1 - s), needs x.
struct swish {
    static __device__ real forward(real x) { return x * logistic(x); }
    template <class X>
    static __device__ real gradient(real dy, X x, long long i)
    {
        const real v = x[i], s = logistic(v);
        return dy * s * (1 + v * (1 - s));
    }
};
