// Clipping of elements.
#pragma once
#include "../support/vec/elementwise.cuh"
#include "../support/net/loss_scale.cuh"
#include "../support/vec/real.cuh"

// clip_elements: y = min(max(x, -limit), limit); NaN stays.  [count]; y may be x.  Limit is real,
// or converts to it.
template <class Limit>
__global__ void clip_elements(real *y, const real *x, Limit most, long long count)
{
    const real limit = most;
    FOR_EACH(i, count) {
        const real value = x[i];
        y[i] = value > limit ? limit : value < -limit ? -limit : value;
    }
}
