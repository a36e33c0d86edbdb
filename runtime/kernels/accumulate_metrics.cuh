// The end of the forward pass: loss and metrics as figures and as running sums.
#pragma once
#include <math.h>
#include "../support/net/accumulated.cuh"
#include "../support/net/header.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"
#include "../support/vec/unroll.cuh"

// FigureRows: of each loss, then of each metric, a number a sample; those of the bits in PAIRS are
// pairs of a sum and its weight.
template <int ROWS, unsigned PAIRS>
struct FigureRows {
    const real *of[ROWS];
};

// FigureSums: the sum and the weight of each over a batch, by a warp of the block that comes last,
// in double.  Loops over them are unrolled, so that registers hold them.
template <int ROWS, unsigned PAIRS>
struct FigureSums {
    FigureSum of[ROWS];

    // True for the thread that has them.
    __device__ bool find(StateHeader *header, const FigureRows<ROWS, PAIRS> &rows,
                         long long samples)
    {
        if (!is_last_block(&header->arrivals) || threadIdx.x >= 32) return false;
        UNROLL
        for (int j = 0; j < ROWS; j++) {
            const int width = 1 + (PAIRS >> j & 1);
            of[j].sum = column(rows.of[j], width, samples);
            of[j].weight = width > 1 ? column(rows.of[j] + 1, width, samples) : (double)samples;
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

// write_figures: figures[0] = the means of the first LOSSES of so many sums, added up; then the
// mean of each other; then, of several losses, the mean of each.  Returns the first.
template <int ROWS, int LOSSES>
static __device__ inline double write_figures(real *figures, const FigureSum *of)
{
    double loss = 0;
    UNROLL
    for (int j = 0; j < ROWS; j++) {
        // Where nothing counts it is 0, but not if what there is is not finite.
        const double mean = of[j].weight == 0 ? 0 * of[j].sum : of[j].sum / of[j].weight;
        if (j < LOSSES) loss += mean;
        if (j >= LOSSES) figures[1 + j - LOSSES] = (real)mean;
        else if (LOSSES > 1) figures[1 + ROWS - LOSSES + j] = (real)mean;
    }
    figures[0] = (real)loss;
    return loss;
}

// MetricSums: the last of a launch: what a batch's losses and metrics are.  Without a finite loss
// the step is to be skipped.
template <int ROWS, int LOSSES, unsigned PAIRS>
struct MetricSums {
    StateHeader *header;
    real *figures;
    long long samples;
    FigureRows<ROWS, PAIRS> rows;
    __device__ void operator()() const
    {
        FigureSums<ROWS, PAIRS> sums;
        if (!sums.find(header, rows, samples)) return;
        const double loss = write_figures<ROWS, LOSSES>(figures, sums.of);
        header->skip = samples == 0 || !isfinite(loss);
        if (header->skip) return;
        header->samples += (uint64_t)samples;
        UNROLL
        for (int j = 0; j < ROWS; j++) add_figure(header->figures[j], sums.of[j]);
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
        FigureSums<ROWS, PAIRS> sums;
        if (!sums.find(header, rows, samples)) return;
        Accumulated *const own = accumulated(header);
        UNROLL
        for (int j = 0; j < ROWS; j++) {
            own->figures[j].sum += sums.of[j].sum;
            own->figures[j].weight += sums.of[j].weight;
        }
        if (!isfinite(write_figures<ROWS, LOSSES>(figures, own->figures))) own->skip = 1;
    }
};
