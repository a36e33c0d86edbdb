// The logistic function, which several activations use.
#pragma once
#include <math.h>
#include "real.cuh"

// logistic: 1 / (1 + exp(-x)).  If the exponential overflows, the quotient is 0, the correct limit.
static __device__ inline real logistic(real x) { return 1 / (1 + exp(-x)); }
