// The largest element of each window of a map [N,H,W,C], and the way back.
//
// Padding is no element: a window is what of it lies in the map.  The first of equal elements, in
// row-major order, is the largest, and so is the first NaN if there is one.
#pragma once
#include "../support/elementwise.cuh"
#include "../support/identity.cuh"

// maxpool_forward: y[n,p,q,c] = max over r,s of x[n,h,w,c] with h = p*stride + r - pad, and, if
//   KEEP, index[n,p,q,c] = r*S + s of that element; y, index [N,P,Q,C].  A thread takes single
//   elements of y, which must not be x.
template <class Shape, class Index, bool KEEP>
__global__ void maxpool_forward(real *y, Index *index, const real *x)
{
    constexpr long long count = Shape::N * Shape::P * Shape::Q * Shape::C;
    for (long long i = first_element(); i < count; i += element_stride()) {
        const long long c = i % Shape::C, pixel = i / Shape::C, row = pixel / Shape::Q;
        const long long h = row % Shape::P * Shape::STRIDE_H - Shape::PAD_TOP;
        const long long w = pixel % Shape::Q * Shape::STRIDE_W - Shape::PAD_LEFT;
        const long long map = row / Shape::P * Shape::H;
        real best = 0;
        int at = -1;
        for (int r = 0; r < Shape::R; r++)
            for (int s = 0; s < Shape::S; s++) {
                if (h + r < 0 || h + r >= Shape::H || w + s < 0 || w + s >= Shape::W) continue;
                real v = x[((map + h + r) * Shape::W + w + s) * Shape::C + c];
                if (at >= 0 && (v <= best || best != best)) continue;
                best = v;
                at = (int)(r * Shape::S + s);
            }
        y[i] = best;
        if (KEEP) index[i] = (Index)at;
    }
}

// maxpool_gradient: dx[n,h,w,c] = sum of dy[n,p,q,c] over the windows whose index says h, w, times
//   the derivative of Act at mask [N,H,W,C].  A thread takes single elements of dx, so the order of
//   each sum is fixed: p, then q.  dx may be mask.
template <class Shape, class Index, class Act>
__global__ void maxpool_gradient(real *dx, const real *dy, const Index *index, const real *mask)
{
    constexpr long long count = Shape::N * Shape::H * Shape::W * Shape::C;
    for (long long i = first_element(); i < count; i += element_stride()) {
        const long long c = i % Shape::C, pixel = i / Shape::C, row = pixel / Shape::W;
        const long long h = row % Shape::H + Shape::PAD_TOP, w = pixel % Shape::W + Shape::PAD_LEFT;
        const long long map = row / Shape::H * Shape::P;
        // Windows that hold (h, w): from the first not yet ended to the last that has begun.
        const long long p0 = h < Shape::R ? 0 : (h - Shape::R) / Shape::STRIDE_H + 1;
        const long long q0 = w < Shape::S ? 0 : (w - Shape::S) / Shape::STRIDE_W + 1;
        real sum = 0;
        for (long long p = p0; p < Shape::P && p * Shape::STRIDE_H <= h; p++)
            for (long long q = q0; q < Shape::Q && q * Shape::STRIDE_W <= w; q++) {
                const long long at = ((map + p) * Shape::Q + q) * Shape::C + c;
                const long long r = h - p * Shape::STRIDE_H, s = w - q * Shape::STRIDE_W;
                if (index[at] == r * Shape::S + s) sum += dy[at];
            }
        dx[i] = through<Act>::gradient(sum, mask, i);
    }
}
