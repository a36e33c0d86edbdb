// Reductions over a warp, always in the same order.
#pragma once
#include <cuda_runtime.h>

// warp_reduce: op over the values of the 32 lanes, in every lane.  All lanes combine the same
// pairs, so all get the same bits.
template <class T, class Operation>
static __device__ inline T warp_reduce(T value, Operation op)
{
    for (int flip = 16; flip > 0; flip /= 2)
        value = op(value, __shfl_xor_sync(0xffffffffu, value, flip));
    return value;
}
