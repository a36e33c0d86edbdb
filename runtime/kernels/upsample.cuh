// Maps made larger by a whole factor, and the way back.
//
// Positions are counted in halves of result pixels, so that they are integers and both directions
// make the same shares of them.
#pragma once
#include "../support/vec/cell.cuh"
#include "../support/vec/elementwise.cuh"
#include "../support/vec/identity.cuh"
#include "../support/vec/load.cuh"

// Between: two pixels along an axis, and the share of the second.
struct Between { int low, high; real share; };

// Nearest: result pixel p is source pixel p / factor.
struct Nearest {
    static constexpr bool BLENDS = false;
    static __device__ Between at(int p, int factor, int) { return {p / factor, p / factor, 0}; }
    static __device__ int first(int h, int factor) { return h * factor; }
    static __device__ int last(int h, int factor) { return h * factor + factor - 1; }
    static __device__ real share(int, int, int, int) { return 1; }
};

// Bilinear: result pixel p lies at (2p + 1 - factor) / (2 factor), kept within the map; share: of
// source pixel h in it; first and last: those that h can have a share in.
struct Bilinear {
    static constexpr bool BLENDS = true;
    static __device__ int position(int p, int factor, int extent)
    {
        const int at = 2 * p + 1 - factor, end = 2 * factor * (extent - 1);
        return at < 0 ? 0 : at < end ? at : end;
    }
    static __device__ Between at(int p, int factor, int extent)
    {
        const int to = position(p, factor, extent), low = to / (2 * factor);
        return {low, low + 1 < extent ? low + 1 : low,
                (real)(to % (2 * factor)) / (real)(2 * factor)};
    }
    static __device__ int first(int h, int factor) { return (h - 1) * factor + (factor + 1) / 2; }
    static __device__ int last(int h, int factor) { return (h + 1) * factor + factor / 2 - 1; }
    static __device__ real share(int p, int h, int factor, int extent)
    {
        const int way = position(p, factor, extent) - 2 * factor * h, far = way < 0 ? -way : way;
        return far < 2 * factor ? (real)(2 * factor - far) / (real)(2 * factor) : (real)0;
    }
};

// upsample_forward: y[n,p,q,c] = the shares of x[n,h,w,c] that Mode says for p and q; x [N,H,W,C],
// y [N, H * FACTOR_H, W * FACTOR_W, C].  A thread takes VEC channels.  y must not be x.
template <class Shape, class Mode, class X = const real *, class Y = real *>
__global__ void upsample_forward(Y y, X x)
{
    constexpr int V = (int)Shape::VEC, down = (int)Shape::FACTOR_H, right = (int)Shape::FACTOR_W;
    constexpr long long lines = Shape::H * down, width = Shape::W * right, C = Shape::C;
    constexpr long long count = Shape::N * lines * width * C / V;
    constexpr bool small = count < 1LL << 31;
    FOR_EACH(i, count) {
        const Cell pixel = cell_of(i, C / V, small), line = cell_of(pixel.row, width, small);
        const Cell image = cell_of(line.row, lines, small);
        const Between h = Mode::at((int)image.column, down, (int)Shape::H);
        const Between w = Mode::at((int)line.column, right, (int)Shape::W);
        const long long low = (image.row * Shape::H + h.low) * Shape::W * C + pixel.column * V;
        const long long high = low + (h.high - h.low) * Shape::W * C;
        const Vec<V> a = load_vec<V>(x, low + w.low * C);
        if (!Mode::BLENDS) {
            store_vec(y, i * V, a);
            continue;
        }
        const Vec<V> b = load_vec<V>(x, low + w.high * C);
        const Vec<V> c = load_vec<V>(x, high + w.low * C);
        const Vec<V> d = load_vec<V>(x, high + w.high * C);
        Vec<V> made;
        for (int j = 0; j < V; j++) {
            const real above = a.at[j] + w.share * (b.at[j] - a.at[j]);
            const real below = c.at[j] + w.share * (d.at[j] - c.at[j]);
            made.at[j] = above + h.share * (below - above);
        }
        store_vec(y, i * V, made);
    }
}

// Repeated: y of Nearest as an array that is nowhere, read from x [N,H,W,C].  Lines of one image
// after the other are as those of one image, for each has FACTOR_H times as many as its source.
template <class Shape, class X = const real *>
struct Repeated {
    X x;
    static __device__ long long at(long long i)
    {
        constexpr int down = (int)Shape::FACTOR_H, right = (int)Shape::FACTOR_W;
        constexpr long long width = Shape::W * right, lines = Shape::N * Shape::H * down;
        constexpr bool small = lines * width * Shape::C < 1LL << 31;
        const Cell pixel = cell_of(i, Shape::C, small), line = cell_of(pixel.row, width, small);
        const long long h = cell_of(line.row, down, small).row;
        return (h * Shape::W + (int)line.column / right) * Shape::C + pixel.column;
    }
    __device__ real operator[](long long i) const { return x[at(i)]; }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const { return load_vec<V>(x, at(i)); }
};

// upsample_gradient: dx[n,h,w,c] = a sum times the derivative of Act at mask [N,H,W,C].  The sum
// over p, q in order is of dy[n,p,q,c] times the share that x[n,h,w,c] has in it.  A thread takes
// VEC channels.  dx may be mask.
template <class Shape, class Mode, class Act, class DY = const real *, class Mask = const real *,
          class DX = real *>
__global__ void upsample_gradient(DX dx, DY dy, Mask mask)
{
    constexpr int V = (int)Shape::VEC, down = (int)Shape::FACTOR_H, right = (int)Shape::FACTOR_W;
    constexpr int lines = (int)Shape::H * down, width = (int)Shape::W * right;
    constexpr long long C = Shape::C, count = Shape::N * Shape::H * Shape::W * C / V;
    constexpr bool small = count < 1LL << 31;
    FOR_EACH(i, count) {
        const Cell pixel = cell_of(i, C / V, small), line = cell_of(pixel.row, Shape::W, small);
        const Cell image = cell_of(line.row, Shape::H, small);
        const int h = (int)image.column, w = (int)line.column;
        const int p0 = Mode::first(h, down), p1 = Mode::last(h, down);
        const int q0 = Mode::first(w, right), q1 = Mode::last(w, right);
        // -0 leaves every number alone, so with factors of 1 dx is dy.
        Vec<V> sum;
        for (int j = 0; j < V; j++) sum.at[j] = -(real)0;
        for (int p = p0 < 0 ? 0 : p0; p <= p1 && p < lines; p++) {
            const long long from = (image.row * lines + p) * width * C + pixel.column * V;
            for (int q = q0 < 0 ? 0 : q0; q <= q1 && q < width; q++) {
                const real share = Mode::share(p, h, down, (int)Shape::H) *
                                   Mode::share(q, w, right, (int)Shape::W);
                const Vec<V> d = load_vec<V>(dy, from + q * C);
                for (int j = 0; j < V; j++) sum.at[j] += share * d.at[j];
            }
        }
        for (int j = 0; j < V; j++) sum.at[j] = Act::gradient(sum.at[j], mask, i * V + j);
        store_vec(dx, i * V, sum);
    }
}
