// Distances that are squared where they are small.
#pragma once
#include <math.h>
#include "../support/net/pair.cuh"
#include "../support/vec/real.cuh"
#include "sum_splits.cuh"

// smooth_l1: d * d / (2 * beta) where the distance d of a and b is below beta, else d - beta / 2.
struct smooth_l1 {
    static __device__ real value(real a, real b, real beta)
    {
        const real apart = fabs(a - b);
        return apart < beta ? apart * apart / (2 * beta) : apart - beta / 2;
    }
    static __device__ real slope_a(real a, real b, real beta)
    {
        const real apart = a - b;
        if (fabs(apart) < beta) return apart / beta;
        return apart > 0 ? (real)1 : apart < 0 ? (real)-1 : apart;
    }
    static __device__ real slope_b(real a, real b, real beta) { return slope_a(b, a, beta); }
};
