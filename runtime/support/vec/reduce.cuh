// Reductions over a warp or a block, always in the same order.
#pragma once
#include <cuda_runtime.h>

// warp_sum: the sum of the values of the 32 lanes, with the same bits in every lane.
template <class T>
static __device__ inline T warp_sum(T value)
{
    for (int flip = 16; flip > 0; flip /= 2) value += __shfl_xor_sync(0xffffffffu, value, flip);
    return value;
}

// group_reduce: likewise op over each LANES neighbours of a warp, LANES a power of two.
template <int LANES, class T, class Operation>
static __device__ inline T group_reduce(T value, Operation op)
{
    for (int flip = LANES / 2; flip > 0; flip /= 2)
        value = op(value, __shfl_xor_sync(0xffffffffu, value, flip));
    return value;
}

// block_sum: the sum over the block's threads, in every thread.  All threads must call it.
template <class T>
static __device__ inline T block_sum(T value)
{
    __shared__ T warps[32];
    value = warp_sum(value);
    __syncthreads();                    // a thread may still read an earlier sum
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    T sum = 0;
    for (int warp = 0; warp < (int)blockDim.x / 32; warp++) sum += warps[warp];
    return sum;
}

// block_max: the largest value of the block's threads, in every thread.  All threads must call it.
template <class T>
static __device__ inline T block_max(T value)
{
    __shared__ T warps[32];
    const auto larger = [](T a, T b) { return a > b ? a : b; };
    value = group_reduce<32>(value, larger);
    __syncthreads();                    // a thread may still read an earlier one
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    for (int warp = 0; warp < (int)blockDim.x / 32; warp++) value = larger(value, warps[warp]);
    return value;
}
