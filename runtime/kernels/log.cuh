// The natural logarithm.
#pragma once
#include <math.h>
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// logarithm: y = log(x).  The gradient, dy / x, needs x.
struct logarithm {
    static __device__ real forward(real x) { return log(x); }
    template <class X>
    static __device__ real gradient(real dy, X x, long long i)
    {
        return dy / x[i];
    }
};
