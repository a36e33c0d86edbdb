// Batch normalisation of the channels of x [ROWS, C], channels innermost, and its gradient.
//
// Rows of a batch that is not full, past samples * pixels, count nowhere.  A thread keeps to one
// channel, so what depends on that is found once.
#pragma once
#include <math.h>
#include "../support/columns.cuh"
#include "../support/elementwise.cuh"
#include "../support/header.cuh"
#include "../support/identity.cuh"
#include "../support/items.cuh"

// batchnorm_forward: y = Act((x - mean[c]) / sqrt(variance[c] + epsilon) * weight[c] + bias[c]);
// without weight 1, without bias 0.  y may be x.
template <class Shape, class Act, class X = const real *, class Y = real *>
__global__ void batchnorm_forward(Y y, X x, const real *weight, const real *bias,
                                  const real *mean, const real *variance, real epsilon)
{
    const ColumnRun<Shape> run;
    if (run.first >= run.end) return;
    const real factor = (weight ? weight[run.c] : (real)1) / sqrt(variance[run.c] + epsilon);
    const real middle = mean[run.c], shift = bias ? bias[run.c] : (real)0;
    for (long long row = run.first; row < run.end; row += run.LANES) {
        const long long i = row * Shape::C + run.c;
        y[i] = Act::forward((x[i] - middle) * factor + shift);
    }
}

// batchnorm_statistics: partials[split,0,c] = the sum of x - x[0,c] over the split's rows and
// partials[split,1,c] that of its square; partials [SPLITS, 2, C].  A thread takes some rows of a
// channel, then the block adds up.  The shift keeps digits where the mean is large.
template <class Shape, class X = const real *>
__global__ void batchnorm_statistics(real *partials, X x, long long samples, long long pixels)
{
    const ColumnRun<Shape> run(samples * pixels);
    real sum = 0, squares = 0;
    for (long long row = run.first; row < run.end; row += run.LANES) {
        const real shifted = x[row * Shape::C + run.c] - x[run.c];
        sum += shifted;
        squares += shifted * shifted;
    }
    sum = column_total<ColumnRun<Shape>::WIDTH>(sum);
    squares = column_total<ColumnRun<Shape>::WIDTH>(squares);
    if (!run.leads) return;
    partials[2 * run.split * Shape::C + run.c] = sum;
    partials[(2 * run.split + 1) * Shape::C + run.c] = squares;
}

// batchnorm_ends: for the thread that leads, sum[c] and product[c]: those of partials [ROWS, 2, C]
// over its rows.
template <class Shape>
static __device__ inline void batchnorm_ends(const ColumnRun<Shape> &run, const real *partials,
                                             real &sum, real &product)
{
    sum = product = 0;
    for (long long row = run.first; row < run.end; row += run.LANES) {
        sum += partials[2 * row * Shape::C + run.c];
        product += partials[(2 * row + 1) * Shape::C + run.c];
    }
    sum = column_total<ColumnRun<Shape>::WIDTH>(sum);
    product = column_total<ColumnRun<Shape>::WIDTH>(product);
}

// batchnorm_moments: mean[c] and variance[c] (over n, not n - 1) of x from the partial sums of
// x - x[0,c], in partials [ROWS, 2, C]; both 0 apart from x[0,c] where there are no samples; and
// factor[c] = weight[c] / sqrt(variance[c] + epsilon), without weight 1.
template <class Shape, class X = const real *>
__global__ void batchnorm_moments(real *mean, real *variance, real *factor, const real *partials,
                                  X x, const real *weight, long long samples, long long pixels,
                                  real epsilon)
{
    const ColumnRun<Shape> run;
    const real n = samples > 0 ? (real)(samples * pixels) : (real)1;
    real sum, squares;
    batchnorm_ends(run, partials, sum, squares);
    if (!run.leads) return;
    const real shift = sum / n, spread = squares / n - shift * shift;
    mean[run.c] = x[run.c] + shift;
    variance[run.c] = spread < 0 ? (real)0 : spread;
    factor[run.c] = (weight ? weight[run.c] : (real)1) / sqrt(variance[run.c] + epsilon);
}

// batchnorm_reduce: partials[split,0,c] = the sum of dy over the split's rows, partials[split,1,c]
// that of dy * (x - mean[c]); partials [SPLITS, 2, C].  As batchnorm_statistics.
template <class Shape, class DY = const real *, class X = const real *>
__global__ void batchnorm_reduce(real *partials, DY dy, X x, const real *mean, long long samples,
                                 long long pixels)
{
    const ColumnRun<Shape> run(samples * pixels);
    const real middle = run.c < Shape::C ? mean[run.c] : (real)0;
    real sum = 0, product = 0;
    for (long long row = run.first; row < run.end; row += run.LANES) {
        const long long i = row * Shape::C + run.c;
        sum += dy[i];
        product += dy[i] * (x[i] - middle);
    }
    sum = column_total<ColumnRun<Shape>::WIDTH>(sum);
    product = column_total<ColumnRun<Shape>::WIDTH>(product);
    if (!run.leads) return;
    partials[2 * run.split * Shape::C + run.c] = sum;
    partials[(2 * run.split + 1) * Shape::C + run.c] = product;
}

// batchnorm_sums: sum[c] = that of dy, and so the bias's gradient, product[c] = that of dy times
// the normalised x, and so the weight's, from partials [ROWS, 2, C].
template <class Shape>
__global__ void batchnorm_sums(real *sum, real *product, const real *partials,
                               const real *variance, real epsilon)
{
    const ColumnRun<Shape> run;
    real own_sum, own_product;
    batchnorm_ends(run, partials, own_sum, own_product);
    if (!run.leads) return;
    sum[run.c] = own_sum;
    product[run.c] = own_product / sqrt(variance[run.c] + epsilon);
}

// batchnorm_gradient: dx = weight[c] / s * (dy - (sum[c] + normal * product[c]) / n), where
// s = sqrt(variance[c] + epsilon), normal = (x - mean[c]) / s and n counts the rows of samples;
// past those 0; times Act's derivative at mask.  dx may be dy, x or mask.
template <class Shape, class Act, class DY = const real *, class X = const real *,
          class Mask = const real *, class DX = real *>
__global__ void batchnorm_gradient(DX dx, DY dy, X x, const real *weight, const real *mean,
                                   const real *variance, const real *sum, const real *product,
                                   Mask mask, long long samples, long long pixels, real epsilon)
{
    const ColumnRun<Shape> run;
    if (run.first >= run.end) return;
    const long long rows = samples * pixels;
    const real n = samples > 0 ? (real)rows : (real)1;
    const real scale = 1 / sqrt(variance[run.c] + epsilon), middle = mean[run.c];
    const real factor = (weight ? weight[run.c] : (real)1) * scale;
    const real level = sum[run.c] / n, slope = product[run.c] / n * scale;
    for (long long row = run.first; row < run.end; row += run.LANES) {
        const long long i = row * Shape::C + run.c;
        const real d = factor * (dy[i] - level - slope * (x[i] - middle));
        dx[i] = Act::gradient(row < rows ? d : (real)0, mask, i);
    }
}

// RunningMoments: running statistics, and the batch's; all [channels].
struct RunningMoments {
    real *mean, *variance;
    const real *batch_mean, *batch_variance;
    long long pixels, channels;
};

// move_moments: running statistics of array k move by momentum to the batch's over n pixels, whose
// variance is first made one over n - 1, unless n is 1.
template <int N>
static __device__ inline void move_moments(const Items<RunningMoments, N> &arrays, int k,
                                           real momentum, real n)
{
    const RunningMoments of = arrays.item[k];
    const real unbiased = n > 1 ? n / (n - 1) : (real)1;
    FOR_EACH_OF(c, arrays, k, of.channels) {
        of.mean[c] += momentum * (of.batch_mean[c] - of.mean[c]);
        of.variance[c] += momentum * (unbiased * of.batch_variance[c] - of.variance[c]);
    }
}

// batchnorm_commit: of each array, running statistics move by momentum to the batch's.  Skipped
// steps and steps of no samples return.
template <int N>
__global__ void batchnorm_commit(const __grid_constant__ Items<RunningMoments, N> arrays,
                                 const Header *header, real momentum, long long samples)
{
    if (header->skip || samples < 1) return;
    const int k = item_of_block(arrays);
    move_moments(arrays, k, momentum, (real)(samples * arrays.item[k].pixels));
}

// batchnorm_commit_accrued: likewise to the mean of what several batches had, each by as much as it
// has samples; n is that of a batch, on the mean.
template <int N>
__global__ void batchnorm_commit_accrued(const __grid_constant__ Items<RunningMoments, N> arrays,
                                         const Header *header, real momentum)
{
    if (header->skip) return;
    const int k = item_of_block(arrays);
    const double n = batch_samples(header) * (double)arrays.item[k].pixels;
    move_moments(arrays, k, momentum, (real)n);
}
