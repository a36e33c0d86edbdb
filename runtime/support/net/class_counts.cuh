// Metrics of classes: their counts, and the rows of a batch.
#pragma once
#include <math.h>
#include "accumulated.cuh"
#include "header.cuh"
#include "../vec/real.cuh"
#include "../vec/reduce.cuh"

// first_largest: where in a row the largest is, the first of equals, never a NaN; by LANES threads
// a row.  Where a row is not `inside` it is not read.
template <int LANES, class X>
static __device__ inline int first_largest(X row, int classes, bool inside)
{
    real most = -INFINITY;
    int at = classes;
    for (int o = threadIdx.x % LANES; o < classes && inside; o += LANES)
        if (row[o] > most || (row[o] == most && at == classes)) {
            most = row[o];
            at = o;
        }
    for (int flip = LANES / 2; flip > 0; flip /= 2) {
        const real other = __shfl_xor_sync(0xffffffffu, most, flip);
        const int where = __shfl_xor_sync(0xffffffffu, at, flip);
        if (other > most || (other == most && where < at)) {
            most = other;
            at = where;
        }
    }
    return at < classes ? at : 0;
}

// count_predicted: partials[s,k,c] = count k of class c by Metric::count, over the pixels of run s.
// Pixels labelled IGNORE or unknown, and pixels past samples, don't count.  logits [., ITEMS,
// CLASSES]; a block of WARPS warps a run of RUN pixels, LANES threads a pixel; each warp counts for
// itself.
template <class Shape, class Metric, class X = const real *>
__global__ void count_predicted(int *partials, X logits, const int *label, long long samples)
{
    constexpr int lanes = (int)Shape::LANES, classes = (int)Shape::CLASSES;
    constexpr int warps = (int)Shape::WARPS, threads = 32 * warps;
    constexpr int each = Metric::NUMBERS * classes;
    __shared__ int counts[warps][each];
    int *own = counts[threadIdx.x / 32];
    for (int i = threadIdx.x % 32; i < each; i += 32) own[i] = 0;
    __syncwarp();

    const long long begin = blockIdx.x * Shape::RUN, pixels = samples * Shape::ITEMS;
    const long long end = begin + Shape::RUN < pixels ? begin + Shape::RUN : pixels;
    for (long long at = begin; at < end; at += threads / lanes) {
        const long long i = at + threadIdx.x / lanes;
        const int want = i < end ? label[i] : -1;
        const bool counted = want >= 0 && want < classes && want != Shape::IGNORE;
        const int got = first_largest<lanes>(logits + i * classes, classes, i < end);
        for (int lane = 0; lane < 32; lane += lanes) {
            const int wanted = __shfl_sync(0xffffffffu, counted ? want : -1, lane);
            const int gotten = __shfl_sync(0xffffffffu, got, lane);
            if (threadIdx.x % 32 > 0 || wanted < 0) continue;
            Metric::count(own, classes, gotten, wanted);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < each; i += threads) {
        int sum = 0;
        for (int warp = 0; warp < warps; warp++) sum += counts[warp][i];
        partials[(long long)blockIdx.x * each + i] = sum;
    }
}

// ClassCounts: the counts k of class c since the reset.
struct ClassCounts {
    const double *all, *last;
    long long classes, c;
    __device__ double operator[](int k) const
    {
        return all[k * classes + c] + last[k * classes + c];
    }
};

// share_mean: all rows[n < samples], pairs, such that `before`, with them added, becomes a weight
// and a sum.  The weight is `all`, 0 where no class counts.  The sum is the block's sum / weight,
// times that weight.
static __device__ inline void share_mean(real *rows, double sum, double weight, double all,
                                         FigureSum before, long long samples, long long batch)
{
    sum = block_sum(sum);
    weight = block_sum(weight);
    const double mean = weight > 0 ? sum / weight : 0;
    if (!(weight > 0)) all = 0;
    const real row = (real)((mean * all - before.sum) / (double)samples);
    const real share = (real)((all - before.weight) / (double)samples);
    for (long long n = threadIdx.x; n < batch; n += blockDim.x) {
        rows[2 * n] = n < samples ? row : (real)0;
        rows[2 * n + 1] = n < samples ? share : (real)0;
    }
}

// add_classes: adds each class to a sum and a weight.
template <class Metric>
static __device__ inline void add_classes(const double *counts, long long numbers,
                                          long long classes, double *sum, double *weight)
{
    __syncthreads();
    for (long long c = threadIdx.x; c < classes; c += blockDim.x)
        Metric::add(ClassCounts{counts, counts + numbers * classes, classes, c}, c, sum, weight);
}

// partial_sum: count i of this batch: the sum over its runs of `each` counts.
static __device__ inline double partial_sum(const int *partials, long long runs, long long each,
                                            long long i)
{
    double sum = 0;
    for (long long run = 0; run < runs; run++) sum += partials[run * each + i];
    return sum;
}

// class_rows: rows [batch, 2] such that the header's figure is the metric of all samples since the
// reset, weighted by them.  The counts [2, numbers, classes] are those of all steps since then
// except the last one, then those of the last step.  They are added unless that step was skipped.
// The partials [runs, numbers, classes] are those of this step.  One block.
template <class Metric>
__global__ void class_rows(real *rows, double *counts, const int *partials,
                           const StateHeader *header, long long samples, long long batch,
                           long long runs, long long numbers, long long classes, int figure)
{
    const bool fresh = header->samples == 0;
    const long long each = numbers * classes;
    for (long long i = threadIdx.x; i < each; i += blockDim.x) {
        double *const before = counts + i, *const last = before + each;
        *before = fresh ? 0 : header->skip ? *before : *before + *last;
        *last = partial_sum(partials, runs, each, i);
    }
    double sum = 0, weight = 0;
    add_classes<Metric>(counts, numbers, classes, &sum, &weight);
    share_mean(rows, sum, weight, (double)header->samples + (double)samples,
               header->figures[figure], samples, batch);
}

// class_rows_accumulated: likewise where a training step comes in several batches: the last counts
// are those of all its batches so far; of those before this one Accumulated has the samples and the
// sum, which the header has not yet.
template <class Metric>
__global__ void class_rows_accumulated(real *rows, double *counts, const int *partials,
                                       const StateHeader *header, long long samples,
                                       long long batch, long long runs, long long numbers,
                                       long long classes, int figure)
{
    const Accumulated own = *(const Accumulated *)(header + 1);
    const bool fresh = header->samples == 0, goes_on = own.samples > 0;
    const long long each = numbers * classes;
    for (long long i = threadIdx.x; i < each; i += blockDim.x) {
        double *const before = counts + i, *const last = before + each;
        const double now = partial_sum(partials, runs, each, i);
        if (!goes_on) *before = fresh ? 0 : header->skip ? *before : *before + *last;
        *last = goes_on ? *last + now : now;
    }
    double sum = 0, weight = 0;
    add_classes<Metric>(counts, numbers, classes, &sum, &weight);
    FigureSum before = header->figures[figure];
    before.sum += own.figures[figure].sum;
    before.weight += own.figures[figure].weight;
    share_mean(rows, sum, weight, (double)header->samples + (double)own.samples + (double)samples,
               before, samples, batch);
}
