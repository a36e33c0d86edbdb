// Whole samples of a branch dropped at random, without a stored mask.
#pragma once
#include <stdint.h>
#include "../support/net/accumulated.cuh"
#include "../support/vec/gated.cuh"
#include "../support/net/header.cuh"
#include "../support/vec/philox.cuh"
#include "../support/vec/real.cuh"

// stochastic_depth_forward: y = keep * x where the sample's draw is at least threshold, else 0;
// x, y [batch, width], from sample `first` of the batch on.  Each sample has as many blocks; a
// thread draws once.  The draw depends on seed, training step, the layer's number and sample alone,
// so dy -> dx is the same launch.  y may be x.
template <class X = const real *, class Y = real *>
__global__ void stochastic_depth_forward(Y y, X x, const StateHeader *header,
                                         uint32_t number, uint32_t threshold, real keep,
                                         long long batch, long long width, long long first)
{
    const long long blocks = gridDim.x / batch, sample = blockIdx.x / blocks;
    uint32_t draw[4] = {0, (uint32_t)(first + sample), number, (uint32_t)header->step};
    philox(draw, header->seed);
    const real factor = draw[0] >= threshold ? keep : (real)0;
    for (long long i = blockIdx.x % blocks * blockDim.x + threadIdx.x; i < width;
         i += blocks * blockDim.x)
        y[sample * width + i] = factor > 0 ? factor * x[sample * width + i] : (real)0;
}

// stochastic_depth_accumulated: likewise in a training step of several batches: a sample is counted
// from the first of the step.
template <class X = const real *, class Y = real *>
__global__ void stochastic_depth_accumulated(Y y, X x, const StateHeader *header,
                                             uint32_t number, uint32_t threshold, real keep,
                                             long long batch, long long width, long long first)
{
    const long long blocks = gridDim.x / batch, sample = blockIdx.x / blocks;
    const uint64_t before = samples_before(header);
    uint32_t draw[4] = {0, (uint32_t)(before + (uint64_t)(first + sample)), number,
                        (uint32_t)header->step};
    philox(draw, header->seed);
    const real factor = draw[0] >= threshold ? keep : (real)0;
    for (long long i = blockIdx.x % blocks * blockDim.x + threadIdx.x; i < width;
         i += blocks * blockDim.x)
        y[sample * width + i] = factor > 0 ? factor * x[sample * width + i] : (real)0;
}
