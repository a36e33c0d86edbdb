// The largest element of each window of a map [N,H,W,C], and the gradient.
//
// Padding has no elements: a window is cut to the map.  The first of equal elements, in row-major
// order, is the largest, and so is the first NaN if there is one.
#pragma once
#include "../support/vec/elementwise.cuh"
#include "../support/vec/identity.cuh"
#include "../support/gemm/pool.cuh"

// MaxPool: the largest element of each channel of a word of the index, the first of equals or NaNs,
// and 1 + its number.  SAVED: there is an index.
template <int BITS, bool SAVED>
struct MaxPool {
    typedef typename Packed<BITS, 1>::Word Word;
    static constexpr int EACH = Packed<BITS, 1>::EACH;
    static constexpr bool KEEP = SAVED;
    real best[EACH] = {};
    int which[EACH] = {};
    __device__ void take(int j, real x, int tap)
    {
        if (which[j] && (x <= best[j] || best[j] != best[j])) return;
        best[j] = x;
        which[j] = tap + 1;
    }
    template <class Shape>
    __device__ real result(int j, int, int) const { return best[j]; }
    __device__ Word word() const
    {
        int packed = 0;
        for (int j = 0; j < EACH; j++) packed |= (which[j] ? which[j] - 1 : 0) << j * BITS % 32;
        return (Word)packed;
    }
};

// maxpool_forward: y[n,p,q,c] = Act(max over r,s of x[n,h,w,c]) with h = p*stride + r - pad in the
// map, the first of equals or of NaNs; if KEEP, the index has r*S + s of it, Packed in BITS each.
// A thread takes the channels of a word of the index.  y must not be x.
template <class Shape, int BITS, bool KEEP, class Act, class X = const real *, class Y = real *>
__global__ void maxpool_forward(Y y, typename Packed<BITS, 1>::Word *index, X x)
{
    pool_windows<Shape, MaxPool<BITS, KEEP>, Act>(y, index, x);
}

// UnpoolLoad: dx[n,h,w,c] = the sum of dy[n,p,q,c], in order, over the windows whose index is h, w,
// times Act's derivative at mask [N,H,W,C].
template <class Shape, int BITS, class Act, class DY = const real *, class Mask = const real *>
struct UnpoolLoad {
    typedef Packed<BITS, Shape::C> Index;
    DY dy;
    const typename Index::Word *index;
    Mask mask;
    __device__ real operator[](long long i) const { return vec<1>(i).at[0]; }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const
    {
        Vec<V> sum = {};
        each_window<Shape>(i, [&](long long at, int tap, int, int) {
            for (int j = 0; j < V; j++)
                if (Index::get(index, at / Shape::C, i % Shape::C + j) == tap)
                    sum.at[j] += dy[at + j];
        });
        for (int j = 0; j < V; j++) sum.at[j] = Act::gradient(sum.at[j], mask, i + j);
        return sum;
    }
};

// maxpool_gradient: dx = UnpoolLoad; a thread takes single elements.  dx may be mask.
template <class Shape, int BITS, class Act, class DY = const real *, class Mask = const real *,
          class DX = real *>
__global__ void maxpool_gradient(DX dx, DY dy, const typename Packed<BITS, 1>::Word *index,
                                 Mask mask)
{
    const UnpoolLoad<Shape, BITS, Act, DY, Mask> made = {dy, index, mask};
    FOR_EACH(i, Shape::N * Shape::H * Shape::W * Shape::C) dx[i] = made[i];
}
