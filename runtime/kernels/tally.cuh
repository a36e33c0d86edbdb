// The end of the forward pass: loss and metrics as figures and as running sums.
#pragma once
#include <math.h>
#include "../support/accrued.cuh"
#include "../support/header.cuh"
#include "../support/real.cuh"
#include "../support/reduce.cuh"

// tally_figures: figures[0] = the mean over samples of the first `losses` rows, summed; the others,
// that of a row each; one warp, in double.  Without a finite loss the step is to be skipped.
template <class... Row>
__global__ void tally_figures(Header *header, real *figures, long long samples, int losses,
                              const Row *...row)
{
    const real *const rows[] = {row...};
    constexpr int count = (int)sizeof...(row);
    double sums[count + 1] = {0};
    for (int j = 0; j < count; j++) {
        double sum = 0;
        for (long long n = threadIdx.x; n < samples; n += 32) sum += rows[j][n];
        sums[j < losses ? 0 : j - losses + 1] +=
            warp_reduce(sum, [](double a, double b) { return a + b; });
    }
    if (threadIdx.x > 0) return;
    header->skip = !isfinite(sums[0] / (double)samples);
    if (!header->skip) header->samples += (uint64_t)samples;
    for (int j = 0; j <= count - losses; j++) {
        figures[j] = (real)(sums[j] / (double)samples);
        if (!header->skip) header->sums[j] += sums[j];
    }
}

// tally_accrued: likewise where it is the update that counts a training step, which is of several
// batches or which a gradient may skip: figures are the means over all samples since the last
// update, and the header's sums stay what they are until then.
template <class... Row>
__global__ void tally_accrued(Header *header, real *figures, long long samples, int losses,
                              const Row *...row)
{
    const real *const rows[] = {row...};
    constexpr int count = (int)sizeof...(row);
    double sums[count + 1] = {0};
    for (int j = 0; j < count; j++) {
        double sum = 0;
        for (long long n = threadIdx.x; n < samples; n += 32) sum += rows[j][n];
        sums[j < losses ? 0 : j - losses + 1] +=
            warp_reduce(sum, [](double a, double b) { return a + b; });
    }
    if (threadIdx.x > 0) return;
    Accrued *const own = accrued(header);
    const double all = (double)own->samples + (double)samples;
    if (!isfinite(sums[0])) own->skip = 1;
    for (int j = 0; j <= count - losses; j++) {
        own->sums[j] += sums[j];
        figures[j] = (real)(own->sums[j] / all);
    }
}
