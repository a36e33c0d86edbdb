// Batch normalisation of the channels of x [ROWS, C], channels innermost, and its gradient.
//
// Rows of a batch that is not full, past samples * pixels, do not count.  A thread keeps to V
// channels, so their statistics are loaded once.  It loads ONCE channels at a time: V, or fewer if
// x has a prologue.  V itself stays, since it determines the order of the sums.
#pragma once
#include <math.h>
#include "../support/vec/columns.cuh"
#include "../support/vec/elementwise.cuh"
#include "../support/net/header.cuh"
#include "../support/vec/identity.cuh"
#include "../support/vec/tensor_list.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/load.cuh"
#include "../support/vec/mul_add.cuh"
#include "../support/vec/norm_terms.cuh"
#include "../support/vec/unroll.cuh"

// batchnorm_forward: y = Act((x - mean[c]) / sqrt(variance[c] + epsilon) * weight[c] + bias[c]);
// without weight 1, without bias 0.  y may be x.  A thread takes V channels.
template <class Shape, class Act, int V, class X = const real *, class Y = real *>
__global__ void batchnorm_forward(Y y, X x, const real *weight, const real *bias,
                                  const real *mean, const real *variance, real epsilon)
{
    const ColumnRun<Shape, V> run;
    if (run.first >= run.end) return;
    const NormTerms<V> terms = norm_terms<V>(run.c, weight, bias, mean, variance, epsilon);
    for (long long row = run.first; row < run.end; row += run.LANES) {
        const long long first = row * Shape::C + run.c;
        const auto from = load_lazy<V>(x, first);
        Vec<V> to;
        UNROLL for (int j = 0; j < V; j++)
            to.at[j] = Act::forward(terms.of(from[first + j], j));
        store_vec(y, first, to);
    }
}

// store_statistics: partials[split,0,c] = the sum of x - x[0,c] over the split's rows and
// partials[split,1,c] that of its square; partials [SPLITS, 2, C].  A thread takes some rows of V
// channels, then the block adds up.  The shift keeps digits where the mean is large.
template <class Shape, int V, int ONCE, class X>
static __device__ inline void store_statistics(real *partials, X x, long long rows)
{
    const ColumnRun<Shape, V> run(rows);
    const bool any = run.first < run.end;
    const Vec<V> shift = any ? load_pieces<V, ONCE>(x, run.c) : Vec<V>{};
    Vec<V> sum = {}, squares = {};
    for (long long row = run.first; row < run.end; row += run.LANES) {
        const Vec<V> own = load_pieces<V, ONCE>(x, row * Shape::C + run.c);
        UNROLL for (int j = 0; j < V; j++) {
            const real shifted = own.at[j] - shift.at[j];
            sum.at[j] += shifted;
            squares.at[j] += shifted * shifted;
        }
    }
    column_totals<run.WIDTH>(sum);
    column_totals<run.WIDTH>(squares);
    if (!run.leads) return;
    store_vec(partials, 2 * run.split * Shape::C + run.c, sum);
    store_vec(partials, (2 * run.split + 1) * Shape::C + run.c, squares);
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

// store_moments: mean[c] and variance[c] (over n, not n - 1) of x from the partial sums of
// x - x[0,c], in partials [ROWS, 2, C]; both 0 apart from x[0,c] where there are no samples; and
// factor[c] = weight[c] / sqrt(variance[c] + epsilon), without weight 1.
template <class Shape, class X>
static __device__ inline void store_moments(const ColumnRun<Shape> &run, real *mean,
                                            real *variance, real *factor, const real *partials,
                                            X x, const real *weight, long long rows, real epsilon)
{
    const real n = rows > 0 ? (real)rows : (real)1;
    real sum, squares;
    batchnorm_ends(run, partials, sum, squares);
    if (!run.leads) return;
    const real shift = sum / n, spread = squares / n - shift * shift;
    mean[run.c] = x[run.c] + shift;
    variance[run.c] = spread < 0 ? (real)0 : spread;
    factor[run.c] = (weight ? weight[run.c] : (real)1) / sqrt(variance[run.c] + epsilon);
}

// batchnorm_statistics: partial sums, for batchnorm_moments.
template <class Shape, int V, int ONCE, class X = const real *>
__global__ void batchnorm_statistics(real *partials, X x, long long samples, long long pixels)
{
    store_statistics<Shape, V, ONCE>(partials, x, samples * pixels);
}

// batchnorm_moments: mean, variance and factor from partial sums.
template <class Shape, class X = const real *>
__global__ void batchnorm_moments(real *mean, real *variance, real *factor, const real *partials,
                                  X x, const real *weight, long long samples, long long pixels,
                                  real epsilon)
{
    store_moments(ColumnRun<Shape>(), mean, variance, factor, partials, x, weight,
                  samples * pixels, epsilon);
}

// batchnorm_statistics_moments: both in one; the block that ends last makes the moments.
template <class Shape, int V, int ONCE, class X = const real *>
__global__ void batchnorm_statistics_moments(real *mean, real *variance, real *factor,
                                             real *partials, X x, const real *weight,
                                             StateHeader *header, long long samples,
                                             long long pixels, real epsilon)
{
    typedef EndsOf<Shape> Ends;
    store_statistics<Shape, V, ONCE>(partials, x, samples * pixels);
    if (!is_last_block(&header->arrivals)) return;
    for (long long tile = 0; tile < Ends::TILES; tile++)
        store_moments(ColumnRun<Ends>(Ends::ROWS, tile), mean, variance, factor, partials, x,
                      weight, samples * pixels, epsilon);
}

// store_products: partials[split,0,c] = the sum of dy over the split's rows, partials[split,1,c]
// that of dy * (x - mean[c]); partials [SPLITS, 2, C].  As store_statistics.
template <class Shape, int V, int ONCE, class DY, class X>
static __device__ inline void store_products(real *partials, DY dy, X x, const real *mean,
                                             long long rows)
{
    const ColumnRun<Shape, V> run(rows);
    const Vec<V> middle = run.first < run.end ? load_vec<V>(mean, run.c) : Vec<V>{};
    Vec<V> sum = {}, product = {};
    for (long long row = run.first; row < run.end; row += run.LANES) {
        const long long i = row * Shape::C + run.c;
        const Vec<V> slope = load_pieces<V, ONCE>(dy, i), own = load_pieces<V, ONCE>(x, i);
        UNROLL for (int j = 0; j < V; j++) {
            sum.at[j] += slope.at[j];
            product.at[j] += slope.at[j] * (own.at[j] - middle.at[j]);
        }
    }
    column_totals<run.WIDTH>(sum);
    column_totals<run.WIDTH>(product);
    if (!run.leads) return;
    store_vec(partials, 2 * run.split * Shape::C + run.c, sum);
    store_vec(partials, (2 * run.split + 1) * Shape::C + run.c, product);
}

// store_sums: sum[c] = that of dy, and so the bias's gradient; product[c] = that of dy times the
// normalised x, and so the weight's; both from partials [ROWS, 2, C].
template <class Shape>
static __device__ inline void store_sums(const ColumnRun<Shape> &run, real *sum, real *product,
                                         const real *partials, const real *variance, real epsilon)
{
    real own_sum, own_product;
    batchnorm_ends(run, partials, own_sum, own_product);
    if (!run.leads) return;
    sum[run.c] = own_sum;
    product[run.c] = own_product / sqrt(variance[run.c] + epsilon);
}

// batchnorm_reduce: partial sums, for batchnorm_sums.
template <class Shape, int V, int ONCE, class DY = const real *, class X = const real *>
__global__ void batchnorm_reduce(real *partials, DY dy, X x, const real *mean, long long samples,
                                 long long pixels)
{
    store_products<Shape, V, ONCE>(partials, dy, x, mean, samples * pixels);
}

// batchnorm_sums: sum and product from partial sums.
template <class Shape>
__global__ void batchnorm_sums(real *sum, real *product, const real *partials,
                               const real *variance, real epsilon)
{
    store_sums(ColumnRun<Shape>(), sum, product, partials, variance, epsilon);
}

// batchnorm_reduce_sums: both in one; the block that ends last makes the sums.
template <class Shape, int V, int ONCE, class DY = const real *, class X = const real *>
__global__ void batchnorm_reduce_sums(real *sum, real *product, real *partials, DY dy, X x,
                                      const real *mean, const real *variance, StateHeader *header,
                                      long long samples, long long pixels, real epsilon)
{
    typedef EndsOf<Shape> Ends;
    store_products<Shape, V, ONCE>(partials, dy, x, mean, samples * pixels);
    if (!is_last_block(&header->arrivals)) return;
    for (long long tile = 0; tile < Ends::TILES; tile++)
        store_sums(ColumnRun<Ends>(Ends::ROWS, tile), sum, product, partials, variance, epsilon);
}

// batchnorm_running_gradient: dx = dy * weight[c] / sqrt(variance[c] + epsilon); without weight 1;
// times Act's derivative at mask.  The variance does not depend on x.  dx may be dy or mask.  A
// thread takes V channels.
template <class Shape, class Act, int V, class DY = const real *, class Mask = const real *,
          class DX = real *>
__global__ void batchnorm_running_gradient(DX dx, DY dy, const real *weight, const real *variance,
                                           Mask mask, real epsilon)
{
    const ColumnRun<Shape, V> run;
    if (run.first >= run.end) return;
    real factor[V];
    UNROLL for (int j = 0; j < V; j++)
        factor[j] = (weight ? weight[run.c + j] : (real)1) / sqrt(variance[run.c + j] + epsilon);
    for (long long row = run.first; row < run.end; row += run.LANES) {
        const long long first = row * Shape::C + run.c;
        const auto from = load_lazy<V>(dy, first);
        const auto kept = load_lazy<V>(mask, first);
        Vec<V> to;
        UNROLL for (int j = 0; j < V; j++)
            to.at[j] = Act::gradient(from[first + j] * factor[j], kept, first + j);
        store_vec(dx, first, to);
    }
}

// batchnorm_gradient: dx = weight[c] / s * (dy - (sum[c] + normal * product[c]) / n), where
// s = sqrt(variance[c] + epsilon), normal = (x - mean[c]) / s and n counts the rows of samples;
// past those 0; times Act's derivative at mask.  dx may be dy, x or mask.  A thread computes the
// factors of a channel for its block, then takes V channels, two rows at a time.
template <class Shape, class Act, int V, class DY = const real *, class X = const real *,
          class Mask = const real *, class DX = real *>
__global__ void batchnorm_gradient(DX dx, DY dy, X x, const real *weight, const real *mean,
                                   const real *variance, const real *sum, const real *product,
                                   Mask mask, long long samples, long long pixels, real epsilon)
{
    constexpr int DEEP = 2, WIDTH = (int)Shape::WIDTH;
    const ColumnRun<Shape, V> run;
    const long long rows = samples * pixels;
    const real n = samples > 0 ? (real)rows : (real)1;
    __shared__ Vec<V> factors[WIDTH / V], middles[WIDTH / V], levels[WIDTH / V], slopes[WIDTH / V];
    const int own = (int)threadIdx.x % WIDTH, place = own / V, part = own % V;
    const long long channel = blockIdx.x % run.TILES * WIDTH + own;
    if (threadIdx.x < WIDTH && channel < Shape::C) {
        const real scale = 1 / sqrt(variance[channel] + epsilon);
        factors[place].at[part] = (weight ? weight[channel] : (real)1) * scale;
        middles[place].at[part] = mean[channel];
        levels[place].at[part] = sum[channel] / n;
        slopes[place].at[part] = product[channel] / n * scale;
    }
    __syncthreads();
    if (run.first >= run.end) return;
    const int first_own = (int)threadIdx.x % run.WIDTH;
    const Vec<V> factor = factors[first_own], middle = middles[first_own];
    const Vec<V> level = levels[first_own], slope = slopes[first_own];
    for (long long row = run.first; row < run.end; row += DEEP * run.LANES) {
        Vec<V> to[DEEP];
        UNROLL for (int k = 0; k < DEEP; k++) {
            // The last row of a thread may be made twice.
            const long long at = row + k * run.LANES < run.end ? row + k * run.LANES : row;
            const long long first = at * Shape::C + run.c;
            const auto from = load_lazy<V>(dy, first);
            const auto own_x = load_lazy<V>(x, first);
            const auto kept = load_lazy<V>(mask, first);
            UNROLL for (int j = 0; j < V; j++) {
                const long long i = first + j;
                const real d = factor.at[j] *
                               (from[i] - level.at[j] - slope.at[j] * (own_x[i] - middle.at[j]));
                to[k].at[j] = Act::gradient(at < rows ? d : (real)0, kept, i);
            }
        }
        UNROLL for (int k = 0; k < DEEP; k++)
            if (row + k * run.LANES < run.end)
                store_vec(dx, (row + k * run.LANES) * Shape::C + run.c, to[k]);
    }
}

// RunningMoments: running statistics, and the batch's; all [channels].
struct RunningMoments {
    real *mean, *variance;
    const real *batch_mean, *batch_variance;
    long long pixels, channels;
};

// move_moments: running statistics of array k move by momentum to the batch's over n pixels.  The
// batch's variance is first made one over n - 1, unless n is 1.
template <int N>
static __device__ inline void move_moments(const TensorList<RunningMoments, N> &arrays, int k,
                                           real momentum, real n)
{
    const RunningMoments of = arrays.item[k];
    const real unbiased = n > 1 ? n / (n - 1) : (real)1;
    FOR_EACH_OF(c, arrays, k, of.channels) {
        of.mean[c] += momentum * (of.batch_mean[c] - of.mean[c]);
        of.variance[c] += momentum * (unbiased * of.batch_variance[c] - of.variance[c]);
    }
}

// batchnorm_commit: moves the running statistics of each array by momentum to the batch's, unless
// the step is skipped or has no samples.
template <int N>
__global__ void batchnorm_commit(const __grid_constant__ TensorList<RunningMoments, N> arrays,
                                 const StateHeader *header, real momentum, long long samples)
{
    if (header->skip || samples < 1) return;
    const int k = arrays.own();
    move_moments(arrays, k, momentum, (real)(samples * arrays.item[k].pixels));
}

// batchnorm_commit_accumulated: likewise to the mean of several batches, weighted by their samples;
// n is the mean number of a batch.
template <int N>
__global__ void batchnorm_commit_accumulated(
    const __grid_constant__ TensorList<RunningMoments, N> arrays, const StateHeader *header,
    real momentum)
{
    if (header->skip) return;
    const int k = arrays.own();
    const double n = batch_samples(header) * (double)arrays.item[k].pixels;
    move_moments(arrays, k, momentum, (real)n);
}
