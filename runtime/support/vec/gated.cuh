// The gradient of dropout after an activation that is zero below 0.
#pragma once
#include "elementwise.cuh"
#include "real.cuh"

// drop_gated: dx[i] = Act's gradient of keep * dy[i] at y[i], all [count].  y is dropout's input
// times keep.  It is 0 if the input was 0 or is dropped, otherwise at least as large, so no random
// numbers are needed.  Map dx may be dy or y.
template <class Act, class DY = const real *, class Y = const real *, class DX = real *>
__global__ void drop_gated(DX dx, DY dy, Y y, real keep, long long count)
{
    FOR_EACH(i, count) dx[i] = Act::gradient(keep * dy[i], y, i);
}
