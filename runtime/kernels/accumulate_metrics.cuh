// The end of the forward pass: loss and metrics as figures and as running sums.
#pragma once
#include <math.h>
#include "../support/net/accumulated.cuh"
#include "../support/net/header.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"
#include "../support/vec/unroll.cuh"

// sum_figures: sums and weights over the batch of the rows of each loss, then each metric.  Rows
// have a number a sample, in `pairs` a sum and its weight.  In double, by a warp of the block that
// comes last; true for the thread that has them.
static __device__ inline bool sum_figures(FigureSum *sums, const real *const *rows, int count,
                                          unsigned pairs, StateHeader *header, long long samples)
{
    if (!is_last_block(&header->arrivals) || threadIdx.x >= 32) return false;
    UNROLL for (int j = 0; j < count; j++) {
        const int width = 1 + (pairs >> j & 1);
        double sum = 0, weight = 0;
        for (long long n = threadIdx.x; n < samples; n += 32) {
            sum += rows[j][n * width];
            if (width > 1) weight += rows[j][n * width + 1];
        }
        sums[j].sum = warp_sum(sum);
        sums[j].weight = width > 1 ? warp_sum(weight) : (double)samples;
    }
    return threadIdx.x == 0;
}

// write_figures: figures[0], which it returns, is the sum of the means of the first losses; then
// come the means of the others; then, if there are several losses, their means.
static __device__ inline double write_figures(real *figures, const FigureSum *of, int count,
                                              int losses)
{
    double loss = 0;
    UNROLL for (int j = 0; j < count; j++) {
        // 0 if nothing counts, but NaN if the sum is not finite.
        const double mean = of[j].weight == 0 ? 0 * of[j].sum : of[j].sum / of[j].weight;
        if (j < losses) loss += mean;
        if (j >= losses) figures[1 + j - losses] = (real)mean;
        else if (losses > 1) figures[1 + count - losses + j] = (real)mean;
    }
    figures[0] = (real)loss;
    return loss;
}

// MetricSums: the end of a launch: the batch's losses and metrics.  The step is skipped if the loss
// is not finite.
template <int ROWS, int LOSSES, unsigned PAIRS>
struct MetricSums {
    StateHeader *header;
    real *figures;
    long long samples;
    const real *rows[ROWS];
    __device__ void operator()() const
    {
        FigureSum sums[ROWS];
        if (!sum_figures(sums, rows, ROWS, PAIRS, header, samples)) return;
        const double loss = write_figures(figures, sums, ROWS, LOSSES);
        header->skip = samples == 0 || !isfinite(loss);
        if (header->skip) return;
        header->samples += (uint64_t)samples;
        UNROLL for (int j = 0; j < ROWS; j++) add_figure(header->figures[j], sums[j]);
    }
};

// PartialMetricSums: likewise if the update counts the training step, because the step has several
// batches or a gradient may skip it.  Figures are those of all samples since the last update, and
// the header's sums stay the same until then.
template <int ROWS, int LOSSES, unsigned PAIRS>
struct PartialMetricSums {
    StateHeader *header;
    real *figures;
    long long samples;
    const real *rows[ROWS];
    __device__ void operator()() const
    {
        FigureSum sums[ROWS];
        if (!sum_figures(sums, rows, ROWS, PAIRS, header, samples)) return;
        Accumulated *const own = accumulated(header);
        UNROLL for (int j = 0; j < ROWS; j++) {
            own->figures[j].sum += sums[j].sum;
            own->figures[j].weight += sums[j].weight;
        }
        if (!isfinite(write_figures(figures, own->figures, ROWS, LOSSES))) own->skip = 1;
    }
};
