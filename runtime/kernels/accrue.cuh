// Gradients summed over the batches of a training step.
#pragma once
#include <stdint.h>
#include "../support/accrued.cuh"
#include "../support/elementwise.cuh"
#include "../support/header.cuh"
#include "../support/real.cuh"

// accrue_add: sum += samples * x, both [count], where x is a mean over the samples of this batch;
// the first batch since the update writes sum, whatever it holds.
__global__ void accrue_add(real *sum, const real *x, const Header *header, long long samples,
                           long long count)
{
    const bool first = samples_before(header) == 0;
    FOR_EACH(i, count) sum[i] = (first ? (real)0 : sum[i]) + (real)samples * x[i];
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

// accrue_mean: sum /= samples of the training step, [count], in place.
__global__ void accrue_mean(real *sum, const Header *header, long long count)
{
    const real samples = (real)samples_before(header);
    FOR_EACH(i, count) sum[i] /= samples;
}

// accrue_clear: the update has ended: the next batch is a training step's first.  One thread.
__global__ void accrue_clear(Header *header)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) *accrued(header) = {0, 0, 0, {0}};
}
