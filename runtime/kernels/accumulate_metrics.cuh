// The end of the forward pass: loss and metrics as figures and as running sums.
#pragma once
#include <math.h>
#include "../support/net/accumulated.cuh"
#include "../support/net/header.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"
#include "../support/vec/unroll.cuh"

// FigureRows: for each loss, then each metric, a number a sample; in PAIRS a sum and its weight.
template <int ROWS, unsigned PAIRS>
struct FigureRows {
    const real *of[ROWS];

    // Sets sums and weights over the batch, in double, by a warp of the block that comes last.
    // True for the thread that has them.
    __device__ bool sum(StateHeader *header, long long samples, FigureSum (&sums)[ROWS]) const
    {
        if (!is_last_block(&header->arrivals) || threadIdx.x >= 32) return false;
        UNROLL
        for (int j = 0; j < ROWS; j++) {
            const int width = 1 + (PAIRS >> j & 1);
            sums[j].sum = column(of[j], width, samples);
            sums[j].weight = width > 1 ? column(of[j] + 1, width, samples) : (double)samples;
        }
        return threadIdx.x == 0;
    }
    static __device__ double column(const real *rows, int width, long long samples)
    {
        double sum = 0;
        for (long long n = threadIdx.x; n < samples; n += 32) sum += rows[n * width];
        return warp_reduce(sum, [](double a, double b) { return a + b; });
    }
};

// write_figures: figures[0], which it returns, is the sum of the means of the first LOSSES; then
// come the means of the others; then, if there are several losses, their means.
template <int ROWS, int LOSSES>
static __device__ inline double write_figures(real *figures, const FigureSum *of)
{
    double loss = 0;
    UNROLL
    for (int j = 0; j < ROWS; j++) {
        // 0 if nothing counts, but NaN if the sum is not finite.
        const double mean = of[j].weight == 0 ? 0 * of[j].sum : of[j].sum / of[j].weight;
        if (j < LOSSES) loss += mean;
        if (j >= LOSSES) figures[1 + j - LOSSES] = (real)mean;
        else if (LOSSES > 1) figures[1 + ROWS - LOSSES + j] = (real)mean;
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
    FigureRows<ROWS, PAIRS> rows;
    __device__ void operator()() const
    {
        FigureSum sums[ROWS];
        if (!rows.sum(header, samples, sums)) return;
        const double loss = write_figures<ROWS, LOSSES>(figures, sums);
        header->skip = samples == 0 || !isfinite(loss);
        if (header->skip) return;
        header->samples += (uint64_t)samples;
        UNROLL
        for (int j = 0; j < ROWS; j++) add_figure(header->figures[j], sums[j]);
    }
};

// PartialMetricSums: likewise where it is the update that counts a training step, which is of
// several batches or which a gradient may skip: figures are those of all samples since the last
// update, and the header's sums stay the same until then.
template <int ROWS, int LOSSES, unsigned PAIRS>
struct PartialMetricSums {
    StateHeader *header;
    real *figures;
    long long samples;
    FigureRows<ROWS, PAIRS> rows;
    __device__ void operator()() const
    {
        FigureSum sums[ROWS];
        if (!rows.sum(header, samples, sums)) return;
        Accumulated *const own = accumulated(header);
        UNROLL
        for (int j = 0; j < ROWS; j++) {
            own->figures[j].sum += sums[j].sum;
            own->figures[j].weight += sums[j].weight;
        }
        if (!isfinite(write_figures<ROWS, LOSSES>(figures, own->figures))) own->skip = 1;
    }
};
