// How well predicted and labelled pixels overlap, by class.
#pragma once
#include <math.h>
#include "../support/net/accumulated.cuh"
#include "../support/net/header.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"

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

// mean_iou_count: partials[s,0,c] = how many pixels of run s are predicted to be c and are;
// partials[s,1,c] = how many are predicted to be; partials[s,2,c] = how many are labelled c.
// Pixels labelled IGNORE or unknown, and pixels past samples, don't count.  logits [., ITEMS,
// CLASSES]; a block of WARPS warps a run of RUN pixels, LANES threads a pixel; each warp counts for
// itself.
template <class Shape, class X = const real *>
__global__ void mean_iou_count(int *partials, X logits, const int *label, long long samples)
{
    constexpr int lanes = (int)Shape::LANES, classes = (int)Shape::CLASSES;
    constexpr int warps = (int)Shape::WARPS, threads = 32 * warps;
    __shared__ int counts[warps][3 * classes];
    int *own = counts[threadIdx.x / 32];
    for (int i = threadIdx.x % 32; i < 3 * classes; i += 32) own[i] = 0;
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
            own[gotten] += gotten == wanted;
            own[classes + gotten]++;
            own[2 * classes + wanted]++;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 3 * classes; i += threads) {
        int sum = 0;
        for (int warp = 0; warp < warps; warp++) sum += counts[warp][i];
        partials[(long long)blockIdx.x * 3 * classes + i] = sum;
    }
}

// share_iou: all rows[n < samples], pairs, such that `before`, with them added, becomes a weight
// and a sum.  The weight is `all`, 0 where no class occurs.  The sum is the mean over the classes
// that occur, times the weight.
static __device__ inline void share_iou(real *rows, double sum, double occur, double all,
                                        FigureSum before, long long samples, long long batch)
{
    sum = block_sum(sum);
    occur = block_sum(occur);
    const double weight = occur > 0 ? all : 0, mean = occur > 0 ? sum / occur : 0;
    const real row = (real)((mean * weight - before.sum) / (double)samples);
    const real share = (real)((weight - before.weight) / (double)samples);
    for (long long n = threadIdx.x; n < batch; n += blockDim.x) {
        rows[2 * n] = n < samples ? row : (real)0;
        rows[2 * n + 1] = n < samples ? share : (real)0;
    }
}

// mean_iou_rows: rows [batch, 2] such that the header's figure is the mean over classes of right /
// either, weighted by the samples since the reset.  The counts [2, 2, classes] are right and either
// of all steps since then except the last one, then those of the last step.  They are added unless
// that step was skipped.  The partials [blocks, 3, classes] are those of this step.  One block.
__global__ void mean_iou_rows(real *rows, double *counts, const int *partials,
                              const StateHeader *header, long long samples, long long batch,
                              long long blocks, long long classes, int figure)
{
    const bool fresh = header->samples == 0;
    double sum = 0, occur = 0;
    for (long long c = threadIdx.x; c < classes; c += blockDim.x) {
        double got[3] = {0, 0, 0};
        for (long long s = 0; s < blocks; s++)
            for (int k = 0; k < 3; k++) got[k] += partials[(s * 3 + k) * classes + c];
        const double now[2] = {got[0], got[1] + got[2] - got[0]};
        double all[2];
        for (int k = 0; k < 2; k++) {
            double *const before = counts + k * classes + c, *const last = before + 2 * classes;
            *before = fresh ? 0 : header->skip ? *before : *before + *last;
            *last = now[k];
            all[k] = *before + now[k];
        }
        if (all[1] > 0) sum += all[0] / all[1];
        occur += all[1] > 0;
    }
    share_iou(rows, sum, occur, (double)header->samples + (double)samples, header->figures[figure],
              samples, batch);
}

// mean_iou_rows_accumulated: likewise where a training step comes in several batches: the last
// counts are those of all its batches so far; of those before this one Accumulated has the samples
// and the sum, which the header has not yet.
__global__ void mean_iou_rows_accumulated(real *rows, double *counts, const int *partials,
                                          const StateHeader *header, long long samples,
                                          long long batch, long long blocks, long long classes,
                                          int figure)
{
    const Accumulated own = *(const Accumulated *)(header + 1);
    const bool fresh = header->samples == 0, goes_on = own.samples > 0;
    double sum = 0, occur = 0;
    for (long long c = threadIdx.x; c < classes; c += blockDim.x) {
        double got[3] = {0, 0, 0};
        for (long long s = 0; s < blocks; s++)
            for (int k = 0; k < 3; k++) got[k] += partials[(s * 3 + k) * classes + c];
        const double now[2] = {got[0], got[1] + got[2] - got[0]};
        double all[2];
        for (int k = 0; k < 2; k++) {
            double *const before = counts + k * classes + c, *const last = before + 2 * classes;
            if (!goes_on) *before = fresh ? 0 : header->skip ? *before : *before + *last;
            *last = goes_on ? *last + now[k] : now[k];
            all[k] = *before + *last;
        }
        if (all[1] > 0) sum += all[0] / all[1];
        occur += all[1] > 0;
    }
    FigureSum before = header->figures[figure];
    before.sum += own.figures[figure].sum;
    before.weight += own.figures[figure].weight;
    share_iou(rows, sum, occur, (double)header->samples + (double)own.samples + (double)samples,
              before, samples, batch);
}
