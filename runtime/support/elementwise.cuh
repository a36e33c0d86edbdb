// Loops over elements, for grids that need not cover them all:
//
//     for (long long i = first_element(); i < count; i += element_stride()) ...
//
// gives thread t of the grid the elements t, t + threads, t + 2 * threads, ...
#pragma once
#include <cuda_runtime.h>

// first_element: the thread's number in the grid.
static __device__ inline long long first_element()
{
    return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

// element_stride: the number of threads in the grid.
static __device__ inline long long element_stride()
{
    return (long long)gridDim.x * blockDim.x;
}
