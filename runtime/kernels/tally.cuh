// The end of the forward pass: loss and metrics as figures and as running sums.
#pragma once
#include <math.h>
#include "../support/accrued.cuh"
#include "../support/header.cuh"
#include "../support/last_block.cuh"
#include "../support/real.cuh"
#include "../support/reduce.cuh"

// FigureRows: a number a sample of each loss, then of each metric.
template <int ROWS>
struct FigureRows {
    const real *of[ROWS];
};

// figure_sums: sums[0] = that of the first `losses` rows; the others, that of a row each; by a
// warp of the block that comes last, in double.  Whether the thread is the one that has them.
template <int ROWS>
static __device__ inline bool figure_sums(double (&sums)[ROWS + 1], Header *header,
                                          const FigureRows<ROWS> &rows, long long samples,
                                          int losses)
{
    if (!is_last_block(&header->arrivals) || threadIdx.x >= 32) return false;
    for (double &sum : sums) sum = 0;
    for (int j = 0; j < ROWS; j++) {
        double sum = 0;
        for (long long n = threadIdx.x; n < samples; n += 32) sum += rows.of[j][n];
        sums[j < losses ? 0 : j - losses + 1] +=
            warp_reduce(sum, [](double a, double b) { return a + b; });
    }
    return threadIdx.x == 0;
}

// Tally: the last of a launch: figures[0] = the mean over samples of the first `losses` rows,
// summed; the others, that of a row each.  Without a finite loss the step is to be skipped.
template <int ROWS>
struct Tally {
    Header *header;
    real *figures;
    long long samples;
    int losses;
    FigureRows<ROWS> rows;
    __device__ void operator()() const
    {
        double sums[ROWS + 1];
        if (!figure_sums(sums, header, rows, samples, losses)) return;
        header->skip = !isfinite(sums[0] / (double)samples);
        if (!header->skip) header->samples += (uint64_t)samples;
        for (int j = 0; j <= ROWS - losses; j++) {
            figures[j] = (real)(sums[j] / (double)samples);
            if (!header->skip) header->sums[j] += sums[j];
        }
    }
};

// TallyAccrued: likewise where it is the update that counts a training step, which is of several
// batches or which a gradient may skip: figures are the means over all samples since the last
// update, and the header's sums stay what they are until then.
template <int ROWS>
struct TallyAccrued {
    Header *header;
    real *figures;
    long long samples;
    int losses;
    FigureRows<ROWS> rows;
    __device__ void operator()() const
    {
        double sums[ROWS + 1];
        if (!figure_sums(sums, header, rows, samples, losses)) return;
        Accrued *const own = accrued(header);
        const double all = (double)own->samples + (double)samples;
        if (!isfinite(sums[0])) own->skip = 1;
        for (int j = 0; j <= ROWS - losses; j++) {
            own->sums[j] += sums[j];
            figures[j] = (real)(own->sums[j] / all);
        }
    }
};
