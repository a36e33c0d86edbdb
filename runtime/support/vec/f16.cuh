// Maps in half precision.
#pragma once
#include <cuda_fp16.h>
#include "real.cuh"

// f16: what maps are stored in: IEEE's binary16, rounded to nearest, ties to even, as it is stored,
// infinite from 65520 on.  All arithmetic is on reals.
struct f16 {
    __half bits;
    f16() = default;
    __device__ f16 &operator=(real x)
    {
        bits = __float2half_rn((float)x);
        return *this;
    }
    __device__ operator real() const { return (real)__half2float(bits); }
};
