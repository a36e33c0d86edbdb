// Reductions over a warp, always in the same order.
#pragma once
#include <math.h>
#include "real.cuh"

// warp_sum: the sum of value over the 32 lanes, in every lane.  A butterfly: all lanes add the
// same pairs, so all get the same bits.
static __device__ inline real warp_sum(real value)
{
    for (int flip = 16; flip > 0; flip /= 2) value += __shfl_xor_sync(0xffffffffu, value, flip);
    return value;
}

// warp_max: the largest value of the 32 lanes, in every lane; a NaN loses against any number.
static __device__ inline real warp_max(real value)
{
    for (int flip = 16; flip > 0; flip /= 2)
        value = fmax(value, __shfl_xor_sync(0xffffffffu, value, flip));
    return value;
}
