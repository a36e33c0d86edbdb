// Maps resampled to another height and width, and the way back.
//
// A source position is a fraction of integers, so that both directions make the same shares.
#pragma once
#include <type_traits>
#include "cell.cuh"
#include "elementwise.cuh"
#include "identity.cuh"
#include "load.cuh"

// Between: two pixels along an axis, and the share of the second.
struct Between { int low, high; real share; };

// Nearest: result pixel p lies at p * H / P, and is the source pixel at or below.
struct Nearest {
    static constexpr bool BLENDS = false;
    static constexpr long long pace(long long from, long long) { return from; }
    static constexpr long long origin(long long, long long) { return 0; }
    static constexpr long long unit(long long, long long to) { return to; }
};

// NearestExact: likewise, at (p + 1/2) * H / P.
struct NearestExact {
    static constexpr bool BLENDS = false;
    static constexpr long long pace(long long from, long long) { return 2 * from; }
    static constexpr long long origin(long long from, long long) { return from; }
    static constexpr long long unit(long long, long long to) { return 2 * to; }
};

// Bilinear: it lies at (p + 1/2) * H / P - 1/2, kept within the map, between two pixels.
struct Bilinear {
    static constexpr bool BLENDS = true;
    static constexpr long long pace(long long from, long long) { return 2 * from; }
    static constexpr long long origin(long long from, long long to) { return from - to; }
    static constexpr long long unit(long long, long long to) { return 2 * to; }
};

// AlignCorners: it lies at p * (H - 1) / (P - 1), between two pixels; at 0 if P is 1.
struct AlignCorners {
    static constexpr bool BLENDS = true;
    static constexpr long long pace(long long from, long long to) { return to > 1 ? from - 1 : 0; }
    static constexpr long long origin(long long, long long) { return 0; }
    static constexpr long long unit(long long, long long to) { return to > 1 ? to - 1 : 1; }
};

// Along: an axis of FROM pixels resampled to TO.  Result pixel p is at (p * PACE + ORIGIN) / UNIT.
template <class Mode, long long FROM, long long TO>
struct Along {
    static constexpr long long PACE = Mode::pace(FROM, TO), ORIGIN = Mode::origin(FROM, TO);
    static constexpr long long UNIT = Mode::unit(FROM, TO), END = UNIT * (FROM - 1);
    typedef std::conditional_t<(PACE * TO + UNIT * (FROM + 2) < 1LL << 31), int, long long> Int;
    // Its position in parts of UNIT, within the map.
    static __device__ Int position(int p)
    {
        const Int at = p * (Int)PACE + (Int)ORIGIN;
        if (!Mode::BLENDS) return at;
        return at < 0 ? 0 : at < (Int)END ? at : (Int)END;
    }
    static __device__ Between at(int p)
    {
        const Int to = position(p);
        const int low = (int)(to / (Int)UNIT);
        if (!Mode::BLENDS) return {low, low, 0};
        return {low, low + 1 < FROM ? low + 1 : low,
                (real)(to % (Int)UNIT) / (real)UNIT};
    }
    // The share of source pixel h in result pixel p.
    static __device__ real share(int p, int h)
    {
        if (!Mode::BLENDS) return 1;
        const Int way = position(p) - (Int)UNIT * h, far = way < 0 ? -way : way;
        return far < (Int)UNIT ? (real)((Int)UNIT - far) / (real)UNIT : (real)0;
    }
    // The first result pixel that is not before a position.
    static __device__ int from(Int at)
    {
        const Int way = at - (Int)ORIGIN;
        if (way <= 0) return 0;
        if constexpr (PACE == 0) return (int)TO;
        else return (int)((way + (Int)PACE - 1) / (Int)PACE);
    }
    // The first and last result pixels in which source pixel h has a share.
    static __device__ int first(int h)
    {
        return from((Int)UNIT * (Mode::BLENDS ? h - 1 : h) + Mode::BLENDS);
    }
    static __device__ int last(int h)
    {
        const int end = h + 1 < FROM ? from((Int)UNIT * (h + 1)) : (int)TO;
        return (end < TO ? end : (int)TO) - 1;
    }
};

// resample_forward: y[n,p,q,c] = the shares of x[n,h,w,c] that Mode says for p and q; x [N,H,W,C],
// y [N,P,Q,C].  A thread takes VEC channels.  y must not be x.
template <class Shape, class Mode, class X = const real *, class Y = real *>
__global__ void resample_forward(Y y, X x)
{
    constexpr int V = (int)Shape::VEC;
    constexpr long long C = Shape::C, count = Shape::N * Shape::P * Shape::Q * C / V;
    constexpr bool small = count < 1LL << 31;
    FOR_EACH(i, count) {
        const Cell pixel = cell_of(i, C / V, small), line = cell_of(pixel.row, Shape::Q, small);
        const Cell image = cell_of(line.row, Shape::P, small);
        const Between h = Along<Mode, Shape::H, Shape::P>::at((int)image.column);
        const Between w = Along<Mode, Shape::W, Shape::Q>::at((int)line.column);
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

// resample_gradient: dx[n,h,w,c] = a sum times the derivative of Act at mask [N,H,W,C].  The sum
// over p, q in order is of dy[n,p,q,c] times the share that x[n,h,w,c] has in it.  A thread takes
// VEC channels.  dx may be mask.
template <class Shape, class Mode, class Act, class DY = const real *, class Mask = const real *,
          class DX = real *>
__global__ void resample_gradient(DX dx, DY dy, Mask mask)
{
    typedef Along<Mode, Shape::H, Shape::P> Down;
    typedef Along<Mode, Shape::W, Shape::Q> Right;
    constexpr int V = (int)Shape::VEC, P = (int)Shape::P, Q = (int)Shape::Q;
    constexpr long long C = Shape::C, count = Shape::N * Shape::H * Shape::W * C / V;
    constexpr bool small = count < 1LL << 31;
    FOR_EACH(i, count) {
        const Cell pixel = cell_of(i, C / V, small), line = cell_of(pixel.row, Shape::W, small);
        const Cell image = cell_of(line.row, Shape::H, small);
        const int h = (int)image.column, w = (int)line.column;
        const int p1 = Down::last(h), q0 = Right::first(w), q1 = Right::last(w);
        // -0 leaves every number alone, so with factors of 1 dx is dy.
        Vec<V> sum;
        for (int j = 0; j < V; j++) sum.at[j] = -(real)0;
        for (int p = Down::first(h); p <= p1; p++) {
            const long long from = (image.row * P + p) * Q * C + pixel.column * V;
            for (int q = q0; q <= q1; q++) {
                const real share = Down::share(p, h) * Right::share(q, w);
                const Vec<V> d = load_vec<V>(dy, from + q * C);
                for (int j = 0; j < V; j++) sum.at[j] += share * d.at[j];
            }
        }
        for (int j = 0; j < V; j++) sum.at[j] = Act::gradient(sum.at[j], mask, i * V + j);
        store_vec(dx, i * V, sum);
    }
}
