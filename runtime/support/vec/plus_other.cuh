// The sum of two gradients of one map, made where the second is.
#pragma once
#include "load.cuh"

// PlusOther: the mask of an activation's gradient, with another gradient of the same map, which is
// added before it.  The mask may be null if Act is the identity.  Both terms and their sum are
// rounded to T, the map's type, as if each were stored.
template <class Act, class T, class Mask = const real *, class Other = const real *>
struct PlusOther {
    Mask mask;
    Other other;
    __device__ real gradient(real dy, long long i) const
    {
        return Act::gradient(as_stored<T>(as_stored<T>(dy) + other[i]), mask, i);
    }
    template <int V, class... Channel>
    friend __device__ auto load_lazy(const PlusOther &x, long long first, Channel... c)
    {
        const auto mask = load_lazy<V>(x.mask, first, c...);
        const auto other = load_lazy<V>(x.other, first, c...);
        return PlusOther<Act, T, decltype(mask), decltype(other)>{mask, other};
    }
};

// by_mask: the gradient that the mask itself gives.
struct by_mask {
    template <class Mask>
    static __device__ real gradient(real dy, const Mask &mask, long long i)
    {
        return mask.gradient(dy, i);
    }
};
