// A tensor times a number; integers become real.
#pragma once
#include <stdint.h>
#include "../support/elementwise.cuh"
#include "../support/real.cuh"

// scale_forward: y[i] = factor * x[i], both [count].  y may be x where x is real.
template <class Source>
__global__ void scale_forward(real *y, const Source *x, real factor, long long count)
{
    FOR_EACH(i, count) y[i] = factor * (real)x[i];
}
