// The scales of a parameter's rows, for quantization-aware training.
#pragma once
#include <cuda_runtime.h>
#include "../support/net/header.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"

// row_scales: scales[k] = the largest magnitude in row k of weight [gridDim.x, width], divided by
// 127; 0 before the training step `delay`.
__global__ void row_scales(real *scales, const real *weight, long long width,
                           const StateHeader *header, long long delay)
{
    const real *row = weight + blockIdx.x * width;
    real most = 0;
    for (long long i = threadIdx.x; i < width; i += blockDim.x) most = max(most, (real)abs(row[i]));
    most = block_max(most);
    if (threadIdx.x == 0) scales[blockIdx.x] = (long long)header->step >= delay ? most / 127 : 0;
}
