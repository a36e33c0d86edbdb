// Squared differences.
#pragma once
#include "../support/net/pair.cuh"
#include "../support/vec/real.cuh"
#include "sum_splits.cuh"

// mse: the square of how far a is from b.
struct mse {
    static __device__ real value(real a, real b) { return (a - b) * (a - b); }
    static __device__ real slope_a(real a, real b) { return 2 * (a - b); }
    static __device__ real slope_b(real a, real b) { return 2 * (b - a); }
};
