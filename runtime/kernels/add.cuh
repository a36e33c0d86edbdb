// The sum of two tensors, of the net or of gradients.
#pragma once
#include "../support/elementwise.cuh"
#include "../support/identity.cuh"
#include "../support/real.cuh"

// add_forward: y[i] = Act(a[i] + b[i]), all [count].  y may be a or b.
template <class Act>
__global__ void add_forward(real *y, const real *a, const real *b, long long count)
{
    FOR_EACH(i, count) y[i] = Act::forward(a[i] + b[i]);
}
