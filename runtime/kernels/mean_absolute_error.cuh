// Distances.
#pragma once
#include <math.h>
#include "../support/net/pair.cuh"
#include "../support/vec/real.cuh"
#include "sum_splits.cuh"

// mean_absolute_error: how far a is from b; the slope where they are equal is 0.
struct mean_absolute_error {
    static __device__ real value(real a, real b) { return fabs(a - b); }
    static __device__ real slope_a(real a, real b)
    {
        const real apart = a - b;
        return apart > 0 ? (real)1 : apart < 0 ? (real)-1 : apart;
    }
    static __device__ real slope_b(real a, real b) { return slope_a(b, a); }
};
