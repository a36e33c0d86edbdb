// The softplus function, which several activations use.
#pragma once
#include <math.h>
#include "real.cuh"

// softplus_of: log(1 + exp(x)).  The exponential does not overflow; NaN stays.
static __device__ inline real softplus_of(real x)
{
    return (x > 0 ? x : x - x) + log1p(exp(-fabs(x)));
}
