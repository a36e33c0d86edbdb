// Loops over elements, for grids of any size.
#pragma once
#include <cuda_runtime.h>

// FOR_EACH: thread t of the grid takes i = t, t + threads, t + 2 * threads, ... below count.
#define FOR_EACH(i, count)                                                                  \
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < (count);       \
         i += (long long)gridDim.x * blockDim.x)
