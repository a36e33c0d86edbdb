// Work that the last block of a launch does.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

// is_last_block: true in the last block of a launch that calls it, which then sees the writes of
// all others.  Every thread calls it once.
static __device__ inline bool is_last_block(uint64_t *arrivals)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc((uint32_t *)arrivals, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    __threadfence();
    return last;
}

// A kernel's parameter Last is a functor such as AdvanceStep.  Every thread of every block calls it
// once at its end; the last block does the work.

// Nothing: the Last of a kernel that needs none.
struct Nothing {
    __device__ void operator()() const {}
};

// do_alone: runs the Last of another launch as its own launch.
template <class Last>
__global__ void do_alone(const Last last)
{
    last();
}
