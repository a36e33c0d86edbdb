// Images less a mean, over a standard deviation, a channel at a time.
#pragma once
#include <stdint.h>
#include "../support/vec/cell.cuh"
#include "../support/vec/elementwise.cuh"
#include "../support/vec/identity.cuh"
#include "../support/vec/list.cuh"
#include "../support/vec/load.cuh"
#include "../support/vec/real.cuh"

// Centred: (x[i] - mean[c]) * factor[c], c = i % C; a list of one number is for all c.
template <class Shape, class Source, int MEANS, int FACTORS>
struct Centred {
    const Source *x;
    List<MEANS> mean;
    List<FACTORS> factor;
    __device__ real operator[](long long i) const
    {
        constexpr bool SMALL = Shape::COUNT < 1LL << 31;
        const int c = SMALL ? (int)((unsigned)i % (unsigned)Shape::C) : (int)(i % Shape::C);
        return of(load_vec<1>(x, i), terms<1>(c)).at[0];
    }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const { return vec_each<V>(*this, i); }
    template <int V>
    struct Terms { Vec<V> mean, factor; };
    template <int V>
    __device__ Terms<V> terms(int c) const
    {
        Terms<V> t;
        for (int j = 0; j < V; j++) t.mean.at[j] = list_pick(mean, c + j);
        for (int j = 0; j < V; j++) t.factor.at[j] = list_pick(factor, c + j);
        return t;
    }
    template <int V>
    static __device__ Vec<V> of(const Vec<V> &from, const Terms<V> &t)
    {
        Vec<V> v;
        for (int j = 0; j < V; j++) v.at[j] = (from.at[j] - t.mean.at[j]) * t.factor.at[j];
        return v;
    }
};

// normalize_forward: y = Centred.  y may be x where x is real.
template <class Shape, class Source, int MEANS, int FACTORS, class Y = real *>
__global__ void normalize_forward(Y y, const Source *x, List<MEANS> mean, List<FACTORS> factor)
{
    const Centred<Shape, Source, MEANS, FACTORS> made = {x, mean, factor};
    FOR_EACH(i, Shape::COUNT) y[i] = made[i];
}

// normalize_gradient: dx[i] = dy[i] / deviation[c], times the derivative of Act at mask, all
// [COUNT], c = i % C; a list of one number is for all channels.  dx may be dy or mask.
template <class Shape, int DEVIATIONS, class Act, class DY = const real *,
          class Mask = const real *, class DX = real *>
__global__ void normalize_gradient(DX dx, DY dy, Mask mask, List<DEVIATIONS> deviation)
{
    FOR_EACH(i, Shape::COUNT) {
        const int c = (int)cell_of(i, Shape::C, Shape::COUNT < 1LL << 31).column;
        dx[i] = Act::gradient(dy[i] / list_pick(deviation, c), mask, i);
    }
}
