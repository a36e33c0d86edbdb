// The hyperbolic tangent as an activation.
#pragma once
#include <math.h>
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// hyperbolic_tangent: y = tanh(x).  The gradient needs y alone.
struct hyperbolic_tangent {
    static __device__ real forward(real x) { return tanh(x); }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i)
    {
        return dy * (1 - y[i]) * (1 + y[i]);
    }
};
