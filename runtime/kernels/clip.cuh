// Limits of elements.
#pragma once
#include "../support/elementwise.cuh"
#include "../support/real.cuh"

// clip_elements: y = x, or the nearest of -limit and limit; NaN stays.  [count]; y may be x.
__global__ void clip_elements(real *y, const real *x, real limit, long long count)
{
    FOR_EACH(i, count) {
        const real value = x[i];
        y[i] = value > limit ? limit : value < -limit ? -limit : value;
    }
}
