// The mean of each window of a map [N,H,W,C], and the way back.
#pragma once
#include "../support/vec/elementwise.cuh"
#include "../support/vec/identity.cuh"
#include "../support/gemm/pool.cuh"

// window_extent: the divisor of a window that begins at `first`, along one axis.  It counts the
// `size` elements, `step` apart, in the map of this extent, or in the map and its padding.
static __device__ inline int window_extent(bool padding, int first, int size, int step, int extent,
                                           int after)
{
    const int begin = padding || first >= 0 ? 0 : (step - 1 - first) / step;
    const int most = padding ? extent + after : extent, end = (most - first + step - 1) / step;
    return (end < size ? end : size) - begin;
}

// window_divisor: of the window that begins at h, w.
template <class Shape>
static __device__ inline real window_divisor(int h, int w)
{
    constexpr bool padding = Shape::COUNT_PADDING != 0;
    return (real)window_extent(padding, h, (int)Shape::R, (int)Shape::DILATION_H, (int)Shape::H,
                               (int)Shape::PAD_BOTTOM) *
           (real)window_extent(padding, w, (int)Shape::S, (int)Shape::DILATION_W, (int)Shape::W,
                               (int)Shape::PAD_RIGHT);
}

// AvgPool: the mean of the elements of each of four channels; no index.
struct AvgPool {
    typedef unsigned char Word;
    static constexpr int EACH = 4;
    static constexpr bool KEEP = false;
    real sum[EACH] = {};
    __device__ void take(int j, real x, int) { sum[j] += x; }
    template <class Shape>
    __device__ real result(int j, int h, int w) const
    {
        return sum[j] / window_divisor<Shape>(h, w);
    }
    __device__ Word word() const { return 0; }
};

// avgpool_forward: y[n,p,q,c] = Act(the sum over r,s of x[n,h,w,c] with h = p*stride + r - pad in
// the map, divided by the window's count).  A thread takes 4 channels.  y must not be x.
template <class Shape, class Act, class X = const real *, class Y = real *>
__global__ void avgpool_forward(Y y, X x)
{
    pool_windows<Shape, AvgPool, Act>(y, nullptr, x);
}

// Spread: dx[n,h,w,c] = the sum of dy[n,p,q,c] / the window's count, times the derivative of Act at
// mask [N,H,W,C].  The sum is over the windows that hold h, w, in the order p, q.
template <class Shape, class Act, class DY = const real *, class Mask = const real *>
struct Spread {
    DY dy;
    Mask mask;
    __device__ real operator[](long long i) const { return vec<1>(i).at[0]; }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const
    {
        Vec<V> sum = {};
        each_window<Shape>(i, [&](long long at, int, int h, int w) {
            const real count = window_divisor<Shape>(h, w);
            for (int j = 0; j < V; j++) sum.at[j] += dy[at + j] / count;
        });
        for (int j = 0; j < V; j++) sum.at[j] = Act::gradient(sum.at[j], mask, i + j);
        return sum;
    }
};

// avgpool_gradient: dx = Spread; a thread takes single elements.  dx may be mask.
template <class Shape, class Act, class DY = const real *, class Mask = const real *,
          class DX = real *>
__global__ void avgpool_gradient(DX dx, DY dy, Mask mask)
{
    const Spread<Shape, Act, DY, Mask> made = {dy, mask};
    FOR_EACH(i, Shape::N * Shape::H * Shape::W * Shape::C) dx[i] = made[i];
}
