// Distances.
#pragma once
#include <math.h>
#include "../support/net/pair.cuh"
#include "../support/vec/real.cuh"
#include "sum_splits.cuh"

// mean_absolute_error: how far a is from b.
struct mean_absolute_error {
    static __device__ real value(real a, real b) { return fabs(a - b); }
};
