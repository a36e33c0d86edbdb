// The gradient of what is dropped behind an activation that stops what is not above 0.
#pragma once
#include "elementwise.cuh"
#include "real.cuh"

// drop_gated: dx[i] = Act's gradient of keep * dy[i] at y[i], all [count].  y is what was dropped
// from, times keep: 0 where that was 0 or is dropped, and else no smaller, so it needs no draw.  dx
// may be dy or y.
template <class Act, class DY = const real *, class Y = const real *, class DX = real *>
__global__ void drop_gated(DX dx, DY dy, Y y, real keep, long long count)
{
    FOR_EACH(i, count) dx[i] = Act::gradient(keep * dy[i], y, i);
}
