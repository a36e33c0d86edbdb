// Maps in half precision.
#pragma once
#include <cuda_fp16.h>
#include "real.cuh"

// f16: IEEE's binary16, for storage.  Storing rounds to nearest, ties to even; values from 65520 on
// become infinite.  All arithmetic is on reals.
struct f16 {
    __half bits;
    f16() = default;
    __host__ __device__ f16 &operator=(real x)
    {
        bits = __float2half_rn((float)x);
        return *this;
    }
    __device__ operator real() const { return (real)__half2float(bits); }
};
