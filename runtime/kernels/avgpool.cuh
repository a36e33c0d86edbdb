// The mean of each window of a map [N,H,W,C], and the way back.
#pragma once
#include "../support/elementwise.cuh"
#include "../support/identity.cuh"
#include "../support/window.cuh"

// window_extent: how many elements of a window that begins at `first` it is divided by, along one
// axis: those in the map of this extent, or in the map and its padding.
static __device__ inline int window_extent(bool padding, int first, int size, int extent, int after)
{
    const int begin = padding || first > 0 ? first : 0;
    const int most = padding ? extent + after : extent, end = first + size;
    return (end < most ? end : most) - begin;
}

// window_divisor: of the window that begins at h, w.
template <class Shape>
static __device__ inline real window_divisor(int h, int w)
{
    constexpr bool padding = Shape::COUNT_PADDING != 0;
    return (real)window_extent(padding, h, (int)Shape::R, (int)Shape::H, (int)Shape::PAD_BOTTOM) *
           (real)window_extent(padding, w, (int)Shape::S, (int)Shape::W, (int)Shape::PAD_RIGHT);
}

// avgpool_forward: y[n,p,q,c] = the sum over r,s of x[n, p*stride + r - pad, q*stride + s - pad, c]
// in the map, divided by the window's count.  A thread takes single elements.  y must not be x.
template <class Shape, class X = const real *, class Y = real *>
__global__ void avgpool_forward(Y y, X x)
{
    constexpr long long count = Shape::N * Shape::P * Shape::Q * Shape::C;
    FOR_EACH(i, count) {
        const Spot window = windows<Shape>(count, Shape::C)(i);
        real sum = 0;
        for (int r = 0; r < Shape::R; r++)
            for (int s = 0; s < Shape::S; s++) {
                const int h = window.h + r, w = window.w + s;
                if (h < 0 || h >= Shape::H || w < 0 || w >= Shape::W) continue;
                sum += x[window.offset + (r * Shape::W + s) * Shape::C];
            }
        y[i] = sum / window_divisor<Shape>(window.h, window.w);
    }
}

// avgpool_gradient: dx[n,h,w,c] = the sum of dy[n,p,q,c] / the window's count over the windows that
// hold h, w, in the order p, q, times the derivative of Act at mask [N,H,W,C].  dx may be mask.
template <class Shape, class Act, class DY = const real *, class Mask = const real *,
          class DX = real *>
__global__ void avgpool_gradient(DX dx, DY dy, Mask mask)
{
    constexpr long long count = Shape::N * Shape::H * Shape::W * Shape::C;
    constexpr Walk walk = {count, Shape::P * Shape::Q * Shape::C, count < 1LL << 31,
                           {Shape::H, Shape::PAD_TOP, 1}, {Shape::W, Shape::PAD_LEFT, 1},
                           {Shape::C, 0, 1, 1}};
    constexpr int down = (int)Shape::STRIDE_H, right = (int)Shape::STRIDE_W;
    constexpr int top = (int)Shape::PAD_TOP, left = (int)Shape::PAD_LEFT;
    FOR_EACH(i, count) {
        const Spot spot = walk(i);
        // Windows that hold (h, w): from the first not yet ended to the last that has begun.
        const int p0 = spot.h < Shape::R ? 0 : (spot.h - (int)Shape::R) / down + 1;
        const int q0 = spot.w < Shape::S ? 0 : (spot.w - (int)Shape::S) / right + 1;
        real sum = 0;
        for (int p = p0; p < Shape::P && p * down <= spot.h; p++)
            for (int q = q0; q < Shape::Q && q * right <= spot.w; q++) {
                const long long at = spot.offset + (p * Shape::Q + q) * Shape::C;
                sum += dy[at] / window_divisor<Shape>(p * down - top, q * right - left);
            }
        dx[i] = Act::gradient(sum, mask, i);
    }
}
