// Work that the last block of a launch does.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

// count_block: adds `one` for this block to a count.  True in thread 0 of the block that makes its
// bits in `mask` equal to `all`; the thread then sees the writes of all blocks in them, and so do
// others after a barrier.  A count with all bits is cleared.  Every thread calls it once.
static __device__ inline bool count_block(uint64_t *count, uint64_t all, uint64_t one = 1,
                                          uint64_t mask = ~0ull)
{
    bool last = false;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = ((atomicAdd((unsigned long long *)count, one) + one) & mask) == all;
        if (last) __threadfence();
        if (last && mask == ~0ull) *count = 0;
    }
    return last;
}

// is_last_block: true in the last block of a launch that calls it, which then sees the writes of
// all others.  Every thread calls it once.
static __device__ inline bool is_last_block(uint64_t *arrivals)
{
    return __syncthreads_or(count_block(arrivals, gridDim.x));
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
