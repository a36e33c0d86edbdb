// The exponential function.
#pragma once
#include <math.h>
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// exponential: y = e^x.  The gradient, dy * y, needs y alone.
struct exponential {
    static __device__ real forward(real x) { return exp(x); }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i)
    {
        return dy * y[i];
    }
};
