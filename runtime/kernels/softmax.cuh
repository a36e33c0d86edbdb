// Softmax over the last axis, a layer of its own.
#pragma once
#include <math.h>
#include "../support/vec/elementwise.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"
#include "softmax_cross_entropy.cuh"

// softmax_forward: y[row,i] = exp(x[row,i]) / the sum of those of the row, less the largest of the
// row; x, y [rows, width], a warp a row, in a fixed order.  y may be x: each lane reads its own
// elements alone.
template <class X = const real *, class Y = real *>
__global__ void softmax_forward(Y y, X x, long long rows, long long width)
{
    FOR_OWN(i, 32 * rows) {
        const long long row = i / 32 * width;
        real largest, sum = softmax_sum(x + row, width, largest);
        for (long long o = i % 32; o < width; o += 32) y[row + o] = exp(x[row + o] - largest) / sum;
    }
}

// softmax_gradient: dx[row,i] = y[row,i] * (dy[row,i] - the sum of dy * y over the row); all
// [rows, width], a warp a row, in a fixed order.  dx may be dy or y.
template <class DY = const real *, class Y = const real *, class DX = real *>
__global__ void softmax_gradient(DX dx, DY dy, Y y, long long rows, long long width)
{
    FOR_OWN(i, 32 * rows) {
        const long long row = i / 32 * width;
        real sum = 0;
        for (long long o = i % 32; o < width; o += 32) sum += dy[row + o] * y[row + o];
        sum = warp_sum(sum);
        for (long long o = i % 32; o < width; o += 32)
            dx[row + o] = y[row + o] * (dy[row + o] - sum);
    }
}
