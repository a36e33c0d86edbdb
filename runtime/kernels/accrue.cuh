// Gradients summed over the batches of a training step.
#pragma once
#include <stdint.h>
#include "../support/net/accrued.cuh"
#include "../support/net/header.cuh"
#include "../support/vec/items.cuh"
#include "../support/vec/real.cuh"

// AccruedArrays: a sum and what comes to it, both [count].
struct AccruedArrays {
    real *sum;
    const real *x;
    long long count;
};

// accrue_add: of each array, sum += samples * x, where x is a mean over the samples of this batch;
// the first batch since the update writes sum, whatever it holds.
template <int N>
__global__ void accrue_add(const __grid_constant__ Items<AccruedArrays, N> arrays,
                           const Header *header, long long samples)
{
    const bool first = samples_before(header) == 0;
    const int k = item_of_block(arrays);
    const AccruedArrays of = arrays.item[k];
    FOR_EACH_OF(i, arrays, k, of.count)
        of.sum[i] = (first ? (real)0 : of.sum[i]) + (real)samples * of.x[i];
}

// accrue_next: the batch has ended.  One thread counts it and its samples.
__global__ void accrue_next(Header *header, long long samples)
{
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    accrued(header)->samples += (uint64_t)samples;
    accrued(header)->batches += 1;
}

// accrue_begin: the update begins: it is skipped where no batch came or the loss of one was not
// finite; if not, what losses and metrics add up to goes into the header's sums.  One thread.
__global__ void accrue_begin(Header *header)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) begin_update(header);
}

// AccruedSum: a sum [count].
struct AccruedSum {
    real *sum;
    long long count;
};

// accrue_mean: of each array, sum /= samples of the training step, in place.
template <int N>
__global__ void accrue_mean(const __grid_constant__ Items<AccruedSum, N> arrays,
                            const Header *header)
{
    const real samples = (real)samples_before(header);
    const int k = item_of_block(arrays);
    const AccruedSum of = arrays.item[k];
    FOR_EACH_OF(i, arrays, k, of.count) of.sum[i] /= samples;
}

// accrue_clear: the update has ended: the next batch is a training step's first.  One thread.
__global__ void accrue_clear(Header *header)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) *accrued(header) = {};
}
