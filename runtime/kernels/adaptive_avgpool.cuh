// The means of windows that cover a map, and the way back.
#pragma once
#include "../support/vec/cell.cuh"
#include "../support/vec/elementwise.cuh"
#include "../support/vec/load.cuh"

// Cover: TO windows that cover an axis of FROM pixels; window p has those from begin to below end.
template <long long FROM, long long TO>
struct Cover {
    static __device__ int begin(int p) { return (int)(p * FROM / TO); }
    static __device__ int end(int p) { return (int)(((p + 1) * FROM + TO - 1) / TO); }
    // The first and last windows that have pixel h.
    static __device__ int first(int h) { return (int)(h * TO / FROM); }
    static __device__ int last(int h) { return (int)(((h + 1) * TO + FROM - 1) / FROM) - 1; }
};

// adaptive_forward: y[n,p,q,c] = the mean of x[n,h,w,c] over window p, q; x [N,H,W,C], y [N,P,Q,C].
// A thread takes VEC channels.  y must not be x.
template <class Shape, class X = const real *, class Y = real *>
__global__ void adaptive_forward(Y y, X x)
{
    typedef Cover<Shape::H, Shape::P> Down;
    typedef Cover<Shape::W, Shape::Q> Right;
    constexpr int V = (int)Shape::VEC;
    constexpr long long C = Shape::C, count = Shape::N * Shape::P * Shape::Q * C / V;
    constexpr bool small = count < 1LL << 31;
    FOR_EACH(i, count) {
        const Cell pixel = cell_of(i, C / V, small), line = cell_of(pixel.row, Shape::Q, small);
        const Cell image = cell_of(line.row, Shape::P, small);
        const int h0 = Down::begin((int)image.column), h1 = Down::end((int)image.column);
        const int w0 = Right::begin((int)line.column), w1 = Right::end((int)line.column);
        Vec<V> sum = {};
        for (int h = h0; h < h1; h++)
            for (int w = w0; w < w1; w++) {
                const long long at = (image.row * Shape::H + h) * Shape::W + w;
                const Vec<V> v = load_vec<V>(x, at * C + pixel.column * V);
                for (int j = 0; j < V; j++) sum.at[j] += v.at[j];
            }
        for (int j = 0; j < V; j++) sum.at[j] /= (real)((h1 - h0) * (w1 - w0));
        store_vec(y, i * V, sum);
    }
}

// adaptive_gradient: dx[n,h,w,c] = the sum, in order, of dy[n,p,q,c] / the window's size over the
// windows that have h, w.  A thread takes VEC channels.  dx must not be dy.
template <class Shape, class DY = const real *, class DX = real *>
__global__ void adaptive_gradient(DX dx, DY dy)
{
    typedef Cover<Shape::H, Shape::P> Down;
    typedef Cover<Shape::W, Shape::Q> Right;
    constexpr int V = (int)Shape::VEC;
    constexpr long long C = Shape::C, count = Shape::N * Shape::H * Shape::W * C / V;
    constexpr bool small = count < 1LL << 31;
    FOR_EACH(i, count) {
        const Cell pixel = cell_of(i, C / V, small), line = cell_of(pixel.row, Shape::W, small);
        const Cell image = cell_of(line.row, Shape::H, small);
        const int h = (int)image.column, w = (int)line.column;
        Vec<V> sum = {};
        for (int p = Down::first(h); p <= Down::last(h); p++)
            for (int q = Right::first(w); q <= Right::last(w); q++) {
                const long long at = (image.row * Shape::P + p) * Shape::Q + q;
                const Vec<V> d = load_vec<V>(dy, at * C + pixel.column * V);
                const int down = Down::end(p) - Down::begin(p);
                const real size = (real)(down * (Right::end(q) - Right::begin(q)));
                for (int j = 0; j < V; j++) sum.at[j] += d.at[j] / size;
            }
        store_vec(dx, i * V, sum);
    }
}
