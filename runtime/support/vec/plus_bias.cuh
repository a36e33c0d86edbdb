// The epilogue of a transposed convolution, in place of the mask of a data gradient.
#pragma once
#include "load.cuh"

// PlusBias: with by_mask, Act(x + bias[c]) for the number x of channel c; without BIAS, Act(x).
template <class Act, bool BIAS>
struct PlusBias {
    const real *bias;
    template <int V>
    struct Own {
        Vec<V> add;
        long long first;
        __device__ real gradient(real x, long long i) const
        {
            return Act::forward(BIAS ? x + add.at[i - first] : x);
        }
    };
    // The V elements from `first` on, which are in one pixel and begin at channel c.
    template <int V, class Channel>
    friend __device__ Own<V> load_lazy(const PlusBias &x, long long first, Channel c)
    {
        if constexpr (BIAS) return {load_vec<V>(x.bias, c), first};
        else return {{}, first};
    }
};
