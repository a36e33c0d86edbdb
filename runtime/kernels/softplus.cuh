// A smooth relu.
#pragma once
#include <math.h>
#include "../support/vec/real.cuh"
#include "../support/vec/softplus.cuh"
#include "../support/vec/unary.cuh"

// softplus: y = log(1 + exp(x)), without overflow; NaN stays.  The gradient, dy * (1 - exp(-y)),
// needs y alone.
struct softplus {
    static __device__ real forward(real x) { return softplus_of(x); }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i)
    {
        return -dy * expm1(-y[i]);
    }
};
