// Kernels of binary elementwise operators.  Operands of equal shapes need no index arithmetic
// (pair_...).  Otherwise one of them is repeated along the axes where it has a single element
// (broadcast_...), and its gradient is a sum over these axes.
//
// A functor computes: forward(a, b), and gradient<SIDE>(dy, a, i, b, j), the gradient of operand
// SIDE (0: a, 1: b) where dy belongs to a[i] and b[j].  It may read neither, and they may be null.
#pragma once
#include "elementwise.cuh"
#include "identity.cuh"
#include "load.cuh"
#include "real.cuh"
#include "unroll.cuh"

// pair_forward: y[i] = Act(F(a[i], b[i])), all [count]; a thread takes V elements; V divides count.
// y may be a or b.
template <class F, class Act, int V, class A = const real *, class B = const real *,
          class Y = real *>
__global__ void pair_forward(Y y, A a, B b, long long count)
{
    FOR_EACH(k, count / V) {
        const long long first = k * V;
        const auto left = load_lazy<V>(a, first);
        const auto right = load_lazy<V>(b, first);
        Vec<V> to;
        UNROLL for (int j = 0; j < V; j++)
            to.at[j] = Act::forward(F::forward(left[first + j], right[first + j]));
        store_vec(y, first, to);
    }
}

// pair_gradient: d[i], the gradient of operand SIDE of F, times the derivative of Act at mask[i];
// all [count].  d may be dy, mask or its own operand.  A thread takes V elements.
template <class F, int SIDE, class Act, int V, class DY = const real *, class A = const real *,
          class B = const real *, class Mask = const real *, class D = real *>
__global__ void pair_gradient(D d, DY dy, A a, B b, Mask mask, long long count)
{
    FOR_EACH(k, count / V) {
        const long long first = k * V;
        const auto from = load_lazy<V>(dy, first);
        const auto left = load_lazy<V>(a, first);
        const auto right = load_lazy<V>(b, first);
        const auto kept = load_lazy<V>(mask, first);
        Vec<V> to;
        UNROLL for (int j = 0; j < V; j++) {
            const long long i = first + j;
            const real own = F::template gradient<SIDE>(from[i], left, i, right, i);
            to.at[j] = Act::gradient(own, kept, i);
        }
        store_vec(d, first, to);
    }
}

// Dim: EXTENT positions along one or more adjacent axes; consecutive ones are A and B elements
// apart in a and b.  0: that operand is repeated.
template <long long EXTENT, long long A, long long B>
struct Dim {
    static constexpr long long extent = EXTENT, a = A, b = B;
    static constexpr long long extent_of_a = A ? EXTENT : 1, extent_of_b = B ? EXTENT : 1;
};

// Meeting: all Dims, the outermost first.  A position is {y, a, b}, the offsets in result and
// operands.
template <class... Dims>
struct Meeting {
    struct Met { long long y, a, b; };
    static constexpr int RANK = sizeof...(Dims);
    static constexpr long long COUNT = (Dims::extent * ...);
    static constexpr long long OF_A = (Dims::extent_of_a * ...), OF_B = (Dims::extent_of_b * ...);
    // The distance of positions along the innermost axis in operand SIDE.
    static constexpr long long APART[2][RANK] = {{Dims::a...}, {Dims::b...}};
    template <int SIDE>
    static constexpr long long innermost = APART[SIDE][RANK - 1];
    // The number of positions: along all axes (SIDE < 0), the axes of operand SIDE (OWN), or the
    // others.
    template <int SIDE, bool OWN>
    static constexpr long long count = SIDE < 0 ? COUNT
                                       : OWN    ? (SIDE == 0 ? OF_A : OF_B)
                                                : COUNT / (SIDE == 0 ? OF_A : OF_B);
    // Returns the i-th position along these axes.
    template <int SIDE, bool OWN, class Index>
    static __device__ Met digits(Index i)
    {
        constexpr long long extent[] = {Dims::extent...}, a[] = {Dims::a...}, b[] = {Dims::b...};
        long long apart = COUNT, inner = count<SIDE, OWN>;
        Met spot = {0, 0, 0};
        for (int d = 0; d < RANK; d++) {
            apart /= extent[d];
            if (SIDE >= 0 && ((SIDE == 0 ? a[d] : b[d]) != 0) != OWN) continue;
            inner /= extent[d];
            const Index digit = i / (Index)inner;
            i -= digit * (Index)inner;
            spot.y += digit * apart;
            spot.a += digit * a[d];
            spot.b += digit * b[d];
        }
        return spot;
    }
    // Below 2^31 the divisions are cheaper.
    template <int SIDE = -1, bool OWN = true>
    static __device__ Met at(long long i)
    {
        return COUNT < 1LL << 31 ? digits<SIDE, OWN>((unsigned)i) : digits<SIDE, OWN>(i);
    }
};

// Paired: Act(F(a, b)) at every position.
template <class F, class Act, class All, class A = const real *, class B = const real *>
struct Paired {
    A a;
    B b;
    __device__ real operator[](long long i) const
    {
        const auto spot = All::at(i);
        return Act::forward(F::forward(a[spot.a], b[spot.b]));
    }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const { return vec_each<V>(*this, i); }
};

// broadcast_forward: y = Act(F(a, b)) at every position; a thread takes single elements.  y may be
// a or b if that has the same size.
template <class F, class Act, class All, class A = const real *, class B = const real *,
          class Y = real *>
__global__ void broadcast_forward(Y y, A a, B b)
{
    FOR_EACH(i, All::COUNT) {
        const auto spot = All::at(i);
        y[i] = Act::forward(F::forward(a[spot.a], b[spot.b]));
    }
}

// broadcast_gradient: d, the gradient of operand SIDE of F, as large as dy, times the derivative of
// Act at mask; a thread takes single elements.  d may be dy, mask or its own operand.
template <class F, int SIDE, class Act, class All, class DY = const real *, class A = const real *,
          class B = const real *, class Mask = const real *, class D = real *>
__global__ void broadcast_gradient(D d, DY dy, A a, B b, Mask mask)
{
    FOR_EACH(i, All::COUNT) {
        const auto spot = All::at(i);
        const real own = F::template gradient<SIDE>(dy[i], a, spot.a, b, spot.b);
        d[i] = Act::gradient(own, mask, i);
    }
}

// broadcast_sums: d[s,k] = the sum of the gradients of element k of operand SIDE of F, times the
// derivative of Act at mask[k].  The sum is over the positions of split s where k is repeated.  A
// block has 256 / LANES elements; LANES threads (a power of two) take the positions of one in
// turns, then add up in a tree.  Adjacent threads of a warp read adjacent elements of dy.  The
// order is fixed. d may be mask or its own operand.
template <class Shape, class F, int SIDE, class Act, class All, class DY = const real *,
          class A = const real *, class B = const real *, class Mask = const real *,
          class D = real *>
__global__ void broadcast_sums(D d, DY dy, A a, B b, Mask mask)
{
    constexpr int lanes = (int)Shape::LANES, width = 256 / lanes;
    // True if operand SIDE has the innermost axis.
    constexpr bool across = All::template innermost<SIDE> != 0;
    constexpr long long kept = All::template count<SIDE, true>;
    constexpr long long terms = All::template count<SIDE, false>;
    constexpr long long tiles = (kept + width - 1) / width;
    constexpr long long run = (terms + Shape::SPLITS - 1) / Shape::SPLITS;
    __shared__ real partial[256];
    const int lane = across ? threadIdx.x / width : threadIdx.x % lanes;
    const int column = across ? threadIdx.x % width : threadIdx.x / lanes;
    const long long split = blockIdx.x / tiles, k = blockIdx.x % tiles * width + column;
    const long long first = split * run, end = first + run < terms ? first + run : terms;

    real sum = 0;
    if (k < kept) {
        const auto own = All::template at<SIDE, true>(k);
        for (long long i = first + lane; i < end; i += lanes) {
            const auto spot = All::template at<SIDE, false>(i);
            sum += F::template gradient<SIDE>(dy[own.y + spot.y], a, own.a + spot.a, b,
                                              own.b + spot.b);
        }
    }
    partial[threadIdx.x] = sum;
    for (int half = lanes / 2; half > 0; half /= 2) {
        __syncthreads();
        if (lane < half) partial[threadIdx.x] += partial[threadIdx.x + half * (across ? width : 1)];
    }
    if (lane == 0 && k < kept) d[split * kept + k] = Act::gradient(partial[threadIdx.x], mask, k);
}
