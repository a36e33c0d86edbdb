// An element times the hyperbolic tangent of its softplus.
#pragma once
#include <math.h>
#include "../support/vec/logistic.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/softplus.cuh"
#include "../support/vec/unary.cuh"

// mish: y = x * t, where t = tanh(log(1 + exp(x))).  The gradient, t + x * (1 - t * t) * s with s
// = 1 / (1 + exp(-x)), needs x.
struct mish {
    static __device__ real forward(real x) { return x * tanh(softplus_of(x)); }
    template <class X>
    static __device__ real gradient(real dy, X x, long long i)
    {
        const real v = x[i], t = tanh(softplus_of(v));
        return dy * (t + v * (1 - t * t) * logistic(v));
    }
};
