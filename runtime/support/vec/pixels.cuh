// Reductions over the pixels of maps.
#pragma once
#include "real.cuh"

// reduce_pixels: op over take(i, p) of the PIXELS elements i of each image's channels, p its pixel;
// then store(j, result), j the number of image and channel.  A block takes an image and WIDTH
// channels; its LANES threads a channel take every LANES-th pixel (LANES a power of two), then
// combine in a tree.  The order is fixed.  none is the neutral element of op.
template <class Shape, class T, class Take, class Operation, class Store>
static __device__ inline void reduce_pixels(T none, const Take &take, const Operation &op,
                                            const Store &store)
{
    constexpr int width = (int)Shape::WIDTH, lanes = (int)Shape::LANES;
    constexpr long long tiles = (Shape::C + width - 1) / width;
    __shared__ T partial[width * lanes];
    const int column = (int)threadIdx.x % width, lane = (int)threadIdx.x / width;
    const long long image = blockIdx.x / tiles, c = blockIdx.x % tiles * width + column;

    T result = none;
    if (c < Shape::C)
        for (long long p = lane; p < Shape::PIXELS; p += lanes)
            result = op(result, take((image * Shape::PIXELS + p) * Shape::C + c, p));
    partial[threadIdx.x] = result;
    for (int half = lanes / 2; half > 0; half /= 2) {
        __syncthreads();
        if (lane < half)
            partial[threadIdx.x] = op(partial[threadIdx.x], partial[threadIdx.x + half * width]);
    }
    if (lane == 0 && c < Shape::C) store(image * Shape::C + c, partial[column]);
}
