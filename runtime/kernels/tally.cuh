// The end of the forward pass: loss and metrics as figures and as running sums.
#pragma once
#include <math.h>
#include "../support/header.cuh"
#include "../support/real.cuh"

// tally_sum: the sum of row [samples] over a block of 256 threads, in thread 0, in double.  Each
// thread adds every 256th element, then they add up in a tree: the order is fixed.
static __device__ inline double tally_sum(const real *row, long long samples)
{
    __shared__ double partial[256];
    double sum = 0;
    for (long long n = threadIdx.x; n < samples; n += 256) sum += row[n];
    __syncthreads();
    partial[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    return threadIdx.x == 0 ? partial[0] : 0;
}

// tally_figures: figures[0] = the mean over samples of the first `losses` rows, summed;
// figures[1], ... = the mean of each row after them.  One block of 256 threads.  Where the loss is
// finite the header's sums grow; where it is not (and without samples) the step is to be skipped.
template <class... Row>
__global__ void tally_figures(Header *header, real *figures, long long samples, int losses,
                              const Row *...row)
{
    constexpr int count = (int)sizeof...(row);
    const real *const rows[count] = {row...};
    double sums[count + 1] = {0};
    for (int j = 0; j < count; j++)
        sums[j < losses ? 0 : j - losses + 1] += tally_sum(rows[j], samples);
    if (threadIdx.x > 0) return;

    const bool finite = isfinite(sums[0] / (double)samples);
    header->skip = !finite;
    if (finite) header->samples += (uint64_t)samples;
    for (int j = 0; j <= count - losses; j++) {
        figures[j] = (real)(sums[j] / (double)samples);
        if (finite) header->sums[j] += sums[j];
    }
}
