// A number a channel, added to every row; its gradient, the sums of columns.
#pragma once
#include "../support/elementwise.cuh"
#include "../support/identity.cuh"
#include "../support/real.cuh"

// bias_forward: y[i] = Act(x[i] + bias[i % C]); x, y [count], channels innermost.  y may be x.
template <class Shape, class Act>
__global__ void bias_forward(real *y, const real *x, const real *bias, long long count)
{
    FOR_EACH(i, count) y[i] = Act::forward(x[i] + bias[i % Shape::C]);
}

// bias_gradient: db[s,c] = the sum of dy[row,c] over the rows of split s; dy [ROWS, C],
// db [SPLITS, C].  A block takes one split of WIDTH columns (a power of two, at most 32); its 256
// threads take every (256 / WIDTH)th row each, then add up in a tree.  The order is fixed.
template <class Shape>
__global__ void bias_gradient(real *db, const real *dy)
{
    constexpr int width = (int)Shape::WIDTH, lanes = 256 / width;
    constexpr long long tiles = (Shape::C + width - 1) / width;
    constexpr long long rows = (Shape::ROWS + Shape::SPLITS - 1) / Shape::SPLITS;
    __shared__ real partial[256];
    const int column = threadIdx.x % width, lane = threadIdx.x / width;
    const long long split = blockIdx.x / tiles, c = blockIdx.x % tiles * width + column;
    const long long first = split * rows;
    const long long end = first + rows < Shape::ROWS ? first + rows : Shape::ROWS;

    real sum = 0;
    if (c < Shape::C)
        for (long long row = first + lane; row < end; row += lanes) sum += dy[row * Shape::C + c];
    partial[threadIdx.x] = sum;
    for (int half = lanes / 2; half > 0; half /= 2) {
        __syncthreads();
        if (lane < half) partial[threadIdx.x] += partial[threadIdx.x + half * width];
    }
    if (lane == 0 && c < Shape::C) db[split * Shape::C + c] = partial[column];
}
