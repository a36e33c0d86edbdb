// The one product and sum that a GPU must make at once to be quick.
#pragma once
#include <cuda_runtime.h>
#include "../vec/real.cuh"

// mul_add: a * b + c.  A GPU rounds once, whatever else -fmad=false keeps nvcc from; the CPU twice.
static __device__ inline real mul_add(real a, real b, real c)
{
#ifdef __CUDACC__
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}
