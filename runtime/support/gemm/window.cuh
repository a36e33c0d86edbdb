// Positions of windows over a map.
#pragma once
#include "product.cuh"

// windows: the first positions of the windows of y in x: `channels` a pixel, `apart` channels
// apart.
template <class Shape>
static __device__ inline Im2colIndex windows(long long end, int channels, int apart = 1)
{
    constexpr long long C = Shape::C, LINE = Shape::W * C;
    constexpr long long X = Shape::N * Shape::H * LINE, Y = Shape::N * Shape::P * Shape::Q * C;
    return {end, Shape::H * LINE, X < 1LL << 30 && Y < 1LL << 30,
            {Shape::P, -Shape::PAD_TOP, Shape::STRIDE_H, LINE},
            {Shape::Q, -Shape::PAD_LEFT, Shape::STRIDE_W, C}, channels, apart};
}

// each_window: calls meet(at, tap, h, w) for the windows that contain element i of x, in order.
// The arguments are the element of y, the index of i in the window, and the pixel at the window's
// corner.
template <class Shape, class Meet>
static __device__ inline void each_window(long long i, const Meet &meet)
{
    constexpr int TALL = (int)Shape::DILATION_H, WIDE = (int)Shape::DILATION_W;
    constexpr int R = ((int)Shape::R - 1) * TALL + 1, S = ((int)Shape::S - 1) * WIDE + 1;
    constexpr int DOWN = (int)Shape::STRIDE_H, RIGHT = (int)Shape::STRIDE_W;
    constexpr long long count = Shape::N * Shape::H * Shape::W * Shape::C;
    constexpr Im2colIndex index = {count, Shape::P * Shape::Q * Shape::C, count < 1LL << 30,
                                   {Shape::H, Shape::PAD_TOP, 1}, {Shape::W, Shape::PAD_LEFT, 1},
                                   Shape::C};
    const Offset2d pixel = index(i);    // from the corner of the first window
    const int p0 = pixel.h < R ? 0 : (pixel.h - R) / DOWN + 1;
    const int q0 = pixel.w < S ? 0 : (pixel.w - S) / RIGHT + 1;
    for (int p = p0; p < Shape::P && p * DOWN <= pixel.h; p++) {
        const int line = (pixel.h - p * DOWN) / TALL * (int)Shape::S;
        if ((pixel.h - p * DOWN) % TALL) continue;
        for (int q = q0; q < Shape::Q && q * RIGHT <= pixel.w; q++)
            if ((pixel.w - q * RIGHT) % WIDE == 0)
                meet(pixel.offset + (p * Shape::Q + q) * Shape::C,
                     WIDE > 1 ? line + (pixel.w - q * RIGHT) / WIDE : line + pixel.w - q * RIGHT,
                     p * DOWN - (int)Shape::PAD_TOP, q * RIGHT - (int)Shape::PAD_LEFT);
    }
}
