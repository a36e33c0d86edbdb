// Maps in bfloat16.
#pragma once
#include <cuda_bf16.h>
#include "real.cuh"

// bf16: the upper half of a float, for storage.  Storing rounds to nearest, ties to even.  All
// arithmetic is on reals.
struct bf16 {
    __nv_bfloat16 bits;
    bf16() = default;
    __host__ __device__ bf16 &operator=(real x)
    {
        bits = __float2bfloat16_rn((float)x);
        return *this;
    }
    __device__ operator real() const { return (real)__bfloat162float(bits); }
};
