// The logarithm of softmax over the last axis.
#pragma once
#include <math.h>
#include "../support/vec/elementwise.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"
#include "softmax_cross_entropy.cuh"

// log_softmax_forward: y[row,i] = x[row,i] less the largest of the row and the logarithm of the sum
// of exp of the differences; x, y [rows, width], a warp a row, in a fixed order.  y may be x: each
// lane reads its own elements alone.
template <class X = const real *, class Y = real *>
__global__ void log_softmax_forward(Y y, X x, long long rows, long long width)
{
    FOR_OWN(i, 32 * rows) {
        const long long row = i / 32 * width;
        real largest;
        const real sum = log(softmax_sum(x + row, width, largest));
        for (long long o = i % 32; o < width; o += 32) y[row + o] = x[row + o] - largest - sum;
    }
}

// log_softmax_gradient: dx[row,i] = dy[row,i] - exp(y[row,i]) * the sum of dy over the row; all
// [rows, width], a warp a row, in a fixed order.  dx may be dy or y.
template <class DY = const real *, class Y = const real *, class DX = real *>
__global__ void log_softmax_gradient(DX dx, DY dy, Y y, long long rows, long long width)
{
    FOR_OWN(i, 32 * rows) {
        const long long row = i / 32 * width;
        real sum = 0;
        for (long long o = i % 32; o < width; o += 32) sum += dy[row + o];
        sum = warp_sum(sum);
        for (long long o = i % 32; o < width; o += 32)
            dx[row + o] = dy[row + o] - exp(y[row + o]) * sum;
    }
}
