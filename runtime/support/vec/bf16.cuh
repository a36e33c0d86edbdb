// Maps in bfloat16.
#pragma once
#include <cuda_bf16.h>
#include "real.cuh"

// bf16: what maps are stored in: the upper half of a float, rounded to nearest, ties to even, as it
// is stored.  All arithmetic is on reals.
struct bf16 {
    __nv_bfloat16 bits;
    bf16() = default;
    __device__ bf16 &operator=(real x)
    {
        bits = __float2bfloat16_rn((float)x);
        return *this;
    }
    __device__ operator real() const { return (real)__bfloat162float(bits); }
};
