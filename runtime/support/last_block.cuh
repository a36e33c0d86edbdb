// Launches that end what they began.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

// is_last_block: whether all other blocks of the launch have been here: what they wrote before is
// then there to be read, and arrivals is 0 again.  Every thread of every block calls it once.
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
