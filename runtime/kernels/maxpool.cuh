// The largest element of each window of a map [N,H,W,C], and the way back.
//
// Padding is no element: a window is what of it lies in the map.  The first of equal elements, in
// row-major order, is the largest, and so is the first NaN if there is one.
#pragma once
#include "../support/elementwise.cuh"
#include "../support/identity.cuh"
#include "../support/window.cuh"

// maxpool_forward: y[n,p,q,c] = max over r,s of x[n,h,w,c] with h = p*stride + r - pad in the map,
// the first of equals or of NaNs; if KEEP, index[n,p,q,c] = r*S + s of it.  y must not be x.
template <class Shape, class Index, bool KEEP, class X = const real *, class Y = real *>
__global__ void maxpool_forward(Y y, Index *index, X x)
{
    constexpr long long count = Shape::N * Shape::P * Shape::Q * Shape::C;
    FOR_EACH(i, count) {
        const Spot window = windows<Shape>(count, Shape::C)(i);
        real best = 0;
        int at = -1;
        for (int r = 0; r < Shape::R; r++)
            for (int s = 0; s < Shape::S; s++) {
                const int h = window.h + r, w = window.w + s;
                if (h < 0 || h >= Shape::H || w < 0 || w >= Shape::W) continue;
                const real v = x[window.offset + (r * Shape::W + s) * Shape::C];
                if (at >= 0 && (v <= best || best != best)) continue;
                best = v;
                at = (int)(r * Shape::S + s);
            }
        y[i] = best;
        if (KEEP) index[i] = (Index)at;
    }
}

// maxpool_gradient: dx[n,h,w,c] = sum of dy[n,p,q,c] over the windows whose index says h, w, in the
// order p, q, times the derivative of Act at mask [N,H,W,C].  dx may be mask.
template <class Shape, class Index, class Act, class DY = const real *, class Mask = const real *,
          class DX = real *>
__global__ void maxpool_gradient(DX dx, DY dy, const Index *index, Mask mask)
{
    constexpr long long count = Shape::N * Shape::H * Shape::W * Shape::C;
    constexpr Walk walk = {count, Shape::P * Shape::Q * Shape::C, count < 1LL << 31,
                           {Shape::H, Shape::PAD_TOP, 1}, {Shape::W, Shape::PAD_LEFT, 1},
                           {Shape::C, 0, 1, 1}};
    FOR_EACH(i, count) {
        const Spot spot = walk(i);
        // Windows that hold (h, w): from the first not yet ended to the last that has begun.
        const long long p0 = spot.h < Shape::R ? 0 : (spot.h - Shape::R) / Shape::STRIDE_H + 1;
        const long long q0 = spot.w < Shape::S ? 0 : (spot.w - Shape::S) / Shape::STRIDE_W + 1;
        real sum = 0;
        for (long long p = p0; p < Shape::P && p * Shape::STRIDE_H <= spot.h; p++)
            for (long long q = q0; q < Shape::Q && q * Shape::STRIDE_W <= spot.w; q++) {
                const long long at = spot.offset + (p * Shape::Q + q) * Shape::C;
                const long long r = spot.h - p * Shape::STRIDE_H, s = spot.w - q * Shape::STRIDE_W;
                if (index[at] == r * Shape::S + s) sum += dy[at];
            }
        dx[i] = Act::gradient(sum, mask, i);
    }
}
