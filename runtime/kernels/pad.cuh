// Maps with a margin of their own pixels.
#pragma once
#include "../support/vec/cell.cuh"
#include "../support/vec/elementwise.cuh"
#include "../support/vec/identity.cuh"
#include "../support/vec/load.cuh"

// Reflect: the pixel at a place outside of an axis of `extent` pixels, mirrored at the edge pixel.
struct Reflect {
    static __device__ int at(int place, int extent)
    {
        return place < 0 ? -place : place < extent ? place : 2 * (extent - 1) - place;
    }
};

// Edge: the edge pixel.
struct Edge {
    static __device__ int at(int place, int extent)
    {
        return place < 0 ? 0 : place < extent ? place : extent - 1;
    }
};

// Wrap: the pixel of the other side.
struct Wrap {
    static __device__ int at(int place, int extent)
    {
        return place < 0 ? place + extent : place < extent ? place : place - extent;
    }
};

// pad_forward: y[n,p,q,c] = x[n,h,w,c], h and w as Mode says for p - TOP and q - LEFT; x [N,H,W,C],
// y [N, TOP + H + BOTTOM, LEFT + W + RIGHT, C].  A thread takes VEC channels.  y must not be x.
template <class Shape, class Mode, class X = const real *, class Y = real *>
__global__ void pad_forward(Y y, X x)
{
    constexpr int V = (int)Shape::VEC, H = (int)Shape::H, W = (int)Shape::W;
    constexpr long long P = Shape::TOP + H + Shape::BOTTOM, Q = Shape::LEFT + W + Shape::RIGHT;
    constexpr long long count = Shape::N * P * Q * Shape::C / V;
    constexpr bool small = count < 1LL << 31;
    FOR_EACH(i, count) {
        const Cell pixel = cell_of(i, Shape::C / V, small), line = cell_of(pixel.row, Q, small);
        const Cell image = cell_of(line.row, P, small);
        const int h = Mode::at((int)(image.column - Shape::TOP), H);
        const int w = Mode::at((int)(line.column - Shape::LEFT), W);
        const long long from = ((image.row * H + h) * W + w) * Shape::C + pixel.column * V;
        store_vec(y, i * V, load_vec<V>(x, from));
    }
}

// next_copy: the first place from `place` on that Mode copies from pixel h, of those below extent +
// after; extent + after if there is none.
template <class Mode>
static __device__ inline int next_copy(int place, int h, int extent, int after)
{
    while (place < extent + after && Mode::at(place, extent) != h) {
        if (place >= 0 && place < h) place = h;         // inside, pixels are their own copies
        else if (place > h && place < extent) place = extent;
        else place++;
    }
    return place;
}

// pad_gradient: dx[n,h,w,c] = the sum of dy over the copies of x[n,h,w,c], in order, times the
// derivative of Act at mask [N,H,W,C].  A thread takes VEC channels.  dx may be mask.
template <class Shape, class Mode, class Act, class DY = const real *, class Mask = const real *,
          class DX = real *>
__global__ void pad_gradient(DX dx, DY dy, Mask mask)
{
    constexpr int V = (int)Shape::VEC, H = (int)Shape::H, W = (int)Shape::W;
    constexpr int top = (int)Shape::TOP, bottom = (int)Shape::BOTTOM;
    constexpr int left = (int)Shape::LEFT, right = (int)Shape::RIGHT;
    constexpr long long P = top + H + bottom, Q = left + W + right, C = Shape::C;
    constexpr long long count = Shape::N * H * W * C / V;
    constexpr bool small = count < 1LL << 31;
    FOR_EACH(i, count) {
        const Cell pixel = cell_of(i, C / V, small), line = cell_of(pixel.row, W, small);
        const Cell image = cell_of(line.row, H, small);
        const int h = (int)image.column, w = (int)line.column;
        Vec<V> sum = {};
        for (int p = next_copy<Mode>(-top, h, H, bottom); p < H + bottom;
             p = next_copy<Mode>(p + 1, h, H, bottom))
            for (int q = next_copy<Mode>(-left, w, W, right); q < W + right;
                 q = next_copy<Mode>(q + 1, w, W, right)) {
                const long long at = (image.row * P + p + top) * Q + q + left;
                const Vec<V> d = load_vec<V>(dy, at * C + pixel.column * V);
                for (int j = 0; j < V; j++) sum.at[j] += d.at[j];
            }
        for (int j = 0; j < V; j++) sum.at[j] = Act::gradient(sum.at[j], mask, i * V + j);
        store_vec(dx, i * V, sum);
    }
}
