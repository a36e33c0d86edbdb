// Gradients summed over the batches of a training step.
#pragma once
#include <stdint.h>
#include "../support/net/accumulated.cuh"
#include "../support/net/header.cuh"
#include "../support/vec/tensor_list.cuh"
#include "../support/vec/real.cuh"

// AccumulatedArrays: a sum and the array that is added to it, both [count].
struct AccumulatedArrays {
    real *sum;
    const real *x;
    long long count;
};

// accumulate_grad_add: of each array, sum += samples * x, where x is a mean over the samples of
// this batch; the first batch since the update writes sum, whatever it holds.
template <int N>
__global__ void accumulate_grad_add(const __grid_constant__ TensorList<AccumulatedArrays, N> arrays,
                                    const StateHeader *header, long long samples)
{
    const bool first = samples_before(header) == 0;
    const int k = arrays.own();
    const AccumulatedArrays of = arrays.item[k];
    FOR_EACH_OF(i, arrays, k, of.count)
        of.sum[i] = (first ? (real)0 : of.sum[i]) + (real)samples * of.x[i];
}

// accumulate_grad_next: the batch has ended.  One thread counts it and its samples.
__global__ void accumulate_grad_next(StateHeader *header, long long samples)
{
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    accumulated(header)->samples += (uint64_t)samples;
    accumulated(header)->batches += 1;
}

// accumulate_grad_begin: the update begins: it is skipped if no batch came or the loss of one was
// not finite; otherwise the totals of losses and metrics are added to the header's sums.  One
// thread.
__global__ void accumulate_grad_begin(StateHeader *header)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) begin_update(header);
}

// AccumulatedSum: a sum [count].
struct AccumulatedSum {
    real *sum;
    long long count;
};

// accumulate_grad_mean: of each array, sum /= samples of the training step, in place.
template <int N>
__global__ void accumulate_grad_mean(const __grid_constant__ TensorList<AccumulatedSum, N> arrays,
                                     const StateHeader *header)
{
    const real samples = (real)samples_before(header);
    const int k = arrays.own();
    const AccumulatedSum of = arrays.item[k];
    FOR_EACH_OF(i, arrays, k, of.count) of.sum[i] /= samples;
}

// accumulate_grad_clear: the update has ended: the next batch is a training step's first.  One
// thread.
__global__ void accumulate_grad_clear(StateHeader *header)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) *accumulated(header) = {};
}
