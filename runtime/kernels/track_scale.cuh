// The scales of maps over the steps of quantization-aware training.
#pragma once
#include <cuda_runtime.h>
#include "../support/net/header.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"
#include "../support/vec/tensor_list.cuh"

// TrackedScale: the scale that the next step uses and the average, and the largest magnitudes of
// this step [count], divided by the largest integer.
struct TrackedScale {
    real *scale;
    const real *largest;
    long long count;
};

// track_scales: of each scale, average += rest * (the largest - average), or the largest if average
// is 0.  The scale used is the average from the training step `delay` on, else 0.  An array has a
// block.  A skipped step changes nothing.
template <int N, class... Last>
__global__ void track_scales(const __grid_constant__ TensorList<TrackedScale, N> arrays,
                             const StateHeader *header, real rest, long long delay, Last... last)
{
    if (!header->skip) {
        const TrackedScale of = arrays.item[arrays.own()];
        real most = 0;
        for (long long i = threadIdx.x; i < of.count; i += blockDim.x)
            most = max(most, of.largest[i]);
        most = block_max(most);
        if (threadIdx.x == 0) {
            const real before = of.scale[1];
            const real average = before == 0 ? most : before + rest * (most - before);
            of.scale[1] = average;
            of.scale[0] = (long long)header->step + 1 >= delay ? average : 0;
        }
    }
    (last(), ...);
}
