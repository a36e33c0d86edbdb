// Normalisation within a sample: x [rows, C], channels innermost, falls into STATISTICS, each of
// C / GROUPS channels of PIXELS rows that follow each other; layernorm is one of 1 group, 1 pixel.
//
// A statistic has a team of TEAM threads: a warp of a block of eight teams, or a block.
#pragma once
#include <math.h>
#include "../support/vec/columns.cuh"
#include "../support/vec/elementwise.cuh"
#include "../support/vec/identity.cuh"
#include "../support/vec/reduce.cuh"

// Statistic: the elements of the team's statistic that a thread takes.  They are j = first, first +
// TEAM, ... below COUNT, each at(j) in x and of channel c(j).  The last block may have teams too
// many, whose is() is false; only warps are.
template <class Shape>
struct Statistic {
    static constexpr long long WIDTH = Shape::C / Shape::GROUPS, COUNT = WIDTH * Shape::PIXELS;
    static constexpr int TEAM = (int)Shape::TEAM;
    long long s = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / TEAM;
    int first = (int)threadIdx.x % TEAM;
    __device__ bool is() const { return s < Shape::STATISTICS; }
    __device__ long long c(long long j) const { return s % Shape::GROUPS * WIDTH + j % WIDTH; }
    __device__ long long at(long long j) const
    {
        return (s / Shape::GROUPS * Shape::PIXELS + j / WIDTH) * Shape::C + c(j);
    }
};

// team_sum: the sum over the threads of a team, in every one of them, in a fixed order.
template <int TEAM>
static __device__ inline real team_sum(real value)
{
    value = warp_sum(value);
    if (TEAM == 32) return value;
    __shared__ real warps[32];
    __syncthreads();                    // of the sum before, all is read
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    return warp_sum(threadIdx.x % 32 < TEAM / 32 ? warps[threadIdx.x % 32] : (real)0);
}

// groupnorm_forward: y = Act((x - mean[s]) * scale[s] * weight[c] + bias[c]), where mean and scale,
// 1 / sqrt(variance + epsilon), are of x's statistic s, and are written where they are wanted;
// without weight 1, without bias 0.  A team reads its elements three times.  y may be x.
template <class Shape, class Act, class X = const real *, class Y = real *>
__global__ void groupnorm_forward(Y y, real *mean, real *scale, X x, const real *weight,
                                  const real *bias, real epsilon)
{
    const Statistic<Shape> own;
    if (!own.is()) return;
    real sum = 0, squares = 0;
    for (long long j = own.first; j < own.COUNT; j += own.TEAM) sum += x[own.at(j)];
    const real middle = team_sum<own.TEAM>(sum) / (real)own.COUNT;
    for (long long j = own.first; j < own.COUNT; j += own.TEAM) {
        const real apart = x[own.at(j)] - middle;
        squares += apart * apart;
    }
    const real variance = team_sum<own.TEAM>(squares) / (real)own.COUNT;
    const real factor = 1 / sqrt(variance + epsilon);
    for (long long j = own.first; j < own.COUNT; j += own.TEAM) {
        const long long i = own.at(j), c = own.c(j);
        const real normal = (x[i] - middle) * factor;
        y[i] = Act::forward(normal * (weight ? weight[c] : (real)1) + (bias ? bias[c] : (real)0));
    }
    if (!mean || own.first > 0) return;
    mean[own.s] = middle;
    scale[own.s] = factor;
}

// groupnorm_columns: dweight[split,c] = the sum over the split's rows of dy * (x - mean[s]) *
// scale[s] and dbias[split,c] = that of dy, each where it is wanted; x, dy [ROWS, C].  A thread
// takes some rows of a channel, then the block adds up.
template <class Shape, class DY = const real *, class X = const real *>
__global__ void groupnorm_columns(real *dweight, real *dbias, DY dy, X x, const real *mean,
                                  const real *scale)
{
    const ColumnRun<Shape> run;
    const long long group = run.c / (Shape::C / Shape::GROUPS);
    real sum = 0, product = 0;
    for (long long row = run.first; row < run.end; row += run.LANES) {
        const long long i = row * Shape::C + run.c, s = row / Shape::PIXELS * Shape::GROUPS + group;
        sum += dy[i];
        product += dy[i] * (x[i] - mean[s]) * scale[s];
    }
    sum = column_total<ColumnRun<Shape>::WIDTH>(sum);
    product = column_total<ColumnRun<Shape>::WIDTH>(product);
    if (!run.leads) return;
    if (dweight) dweight[run.split * Shape::C + run.c] = product;
    if (dbias) dbias[run.split * Shape::C + run.c] = sum;
}

// groupnorm_gradient: dx = scale[s] * (d - mean of d over s - normal * mean of d * normal over s),
// where d = weight[c] * dy and normal = (x - mean[s]) * scale[s], times Act's derivative at mask.
// A team reads its elements twice.  dx may be dy, x or mask.
template <class Shape, class Act, class DY = const real *, class X = const real *,
          class Mask = const real *, class DX = real *>
__global__ void groupnorm_gradient(DX dx, DY dy, X x, const real *weight, const real *mean,
                                   const real *scale, Mask mask)
{
    const Statistic<Shape> own;
    if (!own.is()) return;
    const real middle = mean[own.s], factor = scale[own.s];
    real sum = 0, product = 0;
    for (long long j = own.first; j < own.COUNT; j += own.TEAM) {
        const long long i = own.at(j);
        const real d = dy[i] * (weight ? weight[own.c(j)] : (real)1);
        sum += d;
        product += d * (x[i] - middle) * factor;
    }
    const real level = team_sum<own.TEAM>(sum) / (real)own.COUNT;
    const real slope = team_sum<own.TEAM>(product) / (real)own.COUNT;
    for (long long j = own.first; j < own.COUNT; j += own.TEAM) {
        const long long i = own.at(j);
        const real d = dy[i] * (weight ? weight[own.c(j)] : (real)1);
        const real change = d - level - (x[i] - middle) * factor * slope;
        dx[i] = Act::gradient(factor * change, mask, i);
    }
}
