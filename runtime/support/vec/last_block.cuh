// Launches that end what they began, and more.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

// is_last_block: true in the last block of a launch to call it, which then sees the writes of all
// others.  Every thread calls it once.
static __device__ inline bool is_last_block(uint32_t *arrivals)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(arrivals, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    __threadfence();
    return last;
}

// What a kernel takes as Last says what is to be done when all else of the launch is, as
// AdvanceStep: every thread of every block calls it once, and it is done by the last block that
// comes.

// Nothing: where there is nothing to be done.
struct Nothing {
    __device__ void operator()() const {}
};

// do_alone: what would be the last of another launch, as one of its own.
template <class Last>
__global__ void do_alone(const Last last)
{
    last();
}
