// The end of the forward pass: loss and metrics as figures and as running sums.
#pragma once
#include <math.h>
#include "../support/accrued.cuh"
#include "../support/header.cuh"
#include "../support/last_block.cuh"
#include "../support/real.cuh"
#include "../support/reduce.cuh"
#include "../support/unroll.cuh"

// FigureRows: a number a sample of each loss, then of each metric.
template <int ROWS>
struct FigureRows {
    const real *of[ROWS];
};

// FigureSums: of[0] = that of the first LOSSES rows; the others, that of a row each; by a warp of
// the block that comes last, in double.  Loops over them are unrolled, so that registers hold them.
template <int ROWS, int LOSSES>
struct FigureSums {
    static constexpr int COUNT = ROWS - LOSSES + 1;
    double of[COUNT];

    // Whether the thread is the one that has them.
    __device__ bool find(Header *header, const FigureRows<ROWS> &rows, long long samples)
    {
        if (!is_last_block(&header->arrivals) || threadIdx.x >= 32) return false;
        UNROLL
        for (int j = 0; j < ROWS; j++) {
            double sum = 0;
            for (long long n = threadIdx.x; n < samples; n += 32) sum += rows.of[j][n];
            sum = warp_reduce(sum, [](double a, double b) { return a + b; });
            if (j == 0 || j >= LOSSES) of[j < LOSSES ? 0 : j - LOSSES + 1] = sum;
            else of[0] += sum;
        }
        return threadIdx.x == 0;
    }
};

// Tally: the last of a launch: figures[0] = the mean over samples of the first LOSSES rows,
// summed; the others, that of a row each.  Without a finite loss the step is to be skipped.
template <int ROWS, int LOSSES>
struct Tally {
    Header *header;
    real *figures;
    long long samples;
    FigureRows<ROWS> rows;
    __device__ void operator()() const
    {
        FigureSums<ROWS, LOSSES> sums;
        if (!sums.find(header, rows, samples)) return;
        header->skip = !isfinite(sums.of[0] / (double)samples);
        if (!header->skip) header->samples += (uint64_t)samples;
        UNROLL
        for (int j = 0; j < sums.COUNT; j++) {
            figures[j] = (real)(sums.of[j] / (double)samples);
            if (!header->skip) header->sums[j] += sums.of[j];
        }
    }
};

// TallyAccrued: likewise where it is the update that counts a training step, which is of several
// batches or which a gradient may skip: figures are the means over all samples since the last
// update, and the header's sums stay what they are until then.
template <int ROWS, int LOSSES>
struct TallyAccrued {
    Header *header;
    real *figures;
    long long samples;
    FigureRows<ROWS> rows;
    __device__ void operator()() const
    {
        FigureSums<ROWS, LOSSES> sums;
        if (!sums.find(header, rows, samples)) return;
        Accrued *const own = accrued(header);
        const double all = (double)own->samples + (double)samples;
        if (!isfinite(sums.of[0])) own->skip = 1;
        UNROLL
        for (int j = 0; j < sums.COUNT; j++) {
            own->sums[j] += sums.of[j];
            figures[j] = (real)(own->sums[j] / all);
        }
    }
};
