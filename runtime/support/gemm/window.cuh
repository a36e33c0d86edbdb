// Where windows over a map begin.
#pragma once
#include "product.cuh"

// windows: where the windows of y begin in x: `channels` a pixel, `apart` channels apart.
template <class Shape>
static __device__ inline Im2colIndex windows(long long end, int channels, int apart = 1)
{
    constexpr long long C = Shape::C, LINE = Shape::W * C;
    return {end, Shape::H * LINE, Shape::N * Shape::P * Shape::Q * channels < 1LL << 31,
            {Shape::P, -Shape::PAD_TOP, Shape::STRIDE_H, LINE},
            {Shape::Q, -Shape::PAD_LEFT, Shape::STRIDE_W, C}, channels, apart};
}

// unpooled_pixel: for element i of x, where its image begins in y, plus the channel, and the
// distance from the corner of the first window.
template <class Shape>
static __device__ inline Offset2d unpooled_pixel(long long i)
{
    constexpr long long count = Shape::N * Shape::H * Shape::W * Shape::C;
    constexpr Im2colIndex index = {count, Shape::P * Shape::Q * Shape::C, count < 1LL << 31,
                                   {Shape::H, Shape::PAD_TOP, 1}, {Shape::W, Shape::PAD_LEFT, 1},
                                   Shape::C};
    return index(i);
}
