// The cross entropy of yes-or-no answers.
#pragma once
#include <math.h>
#include "../support/vec/logistic.cuh"
#include "../support/net/pair.cuh"
#include "../support/vec/real.cuh"
#include "sum_splits.cuh"

// binary_cross_entropy: -t * log(p) - (1 - t) * log(1 - p), where p is logistic(x).
struct binary_cross_entropy {
    static __device__ real value(real x, real t)
    {
        return fmax(x, (real)0) - x * t + log1p(exp(-fabs(x))) + 0 * x;  // fmax drops a NaN
    }
    static __device__ real slope_a(real x, real t) { return logistic(x) - t; }
    static __device__ real slope_b(real x, real) { return -x; }
};
