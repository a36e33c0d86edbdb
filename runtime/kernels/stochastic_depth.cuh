// Stochastic depth: drops whole samples of a branch at random, without a stored
// mask.
#pragma once
#include <stdint.h>
#include "../support/net/accumulated.cuh"
#include "../support/vec/gated.cuh"
#include "../support/net/header.cuh"
#include "../support/vec/philox.cuh"
#include "../support/vec/real.cuh"

// stochastic_depth_forward: y = keep * x if the sample's random number is at least threshold,
// otherwise 0; x, y [batch, width], from sample `first` of the batch on.  Each sample has the same
// number of blocks; a thread computes the number once.  It depends only on seed, training step, the
// layer's number and sample, so dy -> dx is the same launch.  y may be x.
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

// stochastic_depth_accumulated: stochastic_depth_forward with gradient accumulation: samples are
// counted from the first of the training step.
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
