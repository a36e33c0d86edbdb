// The logistic function, of which several activations are made.
#pragma once
#include <math.h>
#include "real.cuh"

// logistic: 1 / (1 + exp(-x)).  Where the exponential overflows, the quotient is 0 as it should be.
static __device__ inline real logistic(real x) { return 1 / (1 + exp(-x)); }
