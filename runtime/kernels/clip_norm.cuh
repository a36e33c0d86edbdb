// The norm of all gradients, by sums of squares in a fixed order, in double.
#pragma once
#include <cuda_runtime.h>
#include <math.h>
#include "../support/vec/elementwise.cuh"
#include "../support/net/header.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"

// block_total: the sum over a block of at most 1024 threads, in thread 0; totals is shared, an
// element a warp.
static __device__ inline double block_total(double value, double *totals)
{
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) totals[threadIdx.x / 32] = value;
    __syncthreads();
    double sum = 0;
    if (threadIdx.x == 0)
        for (unsigned i = 0; i < (blockDim.x + 31) / 32; i++) sum += totals[i];
    return sum;
}

// sum_squares: sums[b] = the sum of squares of block b's elements of x [count]; the sums of blocks
// that were not launched, up to `parts`, are 0.
__global__ void sum_squares(double *sums, const real *x, long long count, int parts)
{
    __shared__ double totals[32];
    double sum = 0;
    FOR_OWN(i, count) sum += (double)x[i] * (double)x[i];
    sum = block_total(sum, totals);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    for (unsigned i = gridDim.x + threadIdx.x; blockIdx.x == 0 && i < (unsigned)parts;
         i += blockDim.x)
        sums[i] = 0;
}

// join_sums: sum[i] = of sums_k[i] over k; a block with a thread for each of the parts.
template <class... Sums>
__global__ void join_sums(double *sum, const Sums *...sums)
{
    const double *const all[] = {sums...};
    double total = 0;
    for (const double *some : all) total += some[threadIdx.x];
    sum[threadIdx.x] = total;
}

// scale_gradients: gradient_scale = min(1, limit / (norm + 1e-6)), where norm is the root of the
// total of all sums; NaN stays NaN.  If gradient_scale is set already, norm is the norm after that
// scale, and the two scales are multiplied.  A block with a thread for each of the parts.
template <bool scaled, class... Sums>
__global__ void scale_gradients(StateHeader *header, double limit, const Sums *...sums)
{
    __shared__ double totals[32];
    const double *const all[] = {sums...};
    double total = 0;
    for (const double *some : all) total += some[threadIdx.x];
    total = block_total(total, totals);
    if (threadIdx.x > 0) return;
    const double own = (double)(scaled ? (real)header->gradient_scale : (real)1);
    const double scale = limit / (sqrt(total) * own + 1e-6);
    header->gradient_scale = (scale >= 1 ? 1 : scale) * own;
}
