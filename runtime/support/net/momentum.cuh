// Gradients that are added to a momentum when they are stored.
#pragma once
#include "header.cuh"
#include "../vec/load.cuh"

// Momentum: replaces the pointer of a gradient.  `gradient[i] = sum` decays the momentum and adds
// sum + weight_decay * weight[i].  A skipped step leaves it unchanged.
struct Momentum {
    real *momentum;
    const real *weight;
    const StateHeader *header;
    real keep, weight_decay;
    template <int V>
    friend __device__ void store_vec(const Momentum &to, long long i, const Vec<V> &sums)
    {
        if (to.header->skip) return;
        const Vec<V> own = load_vec<V>(to.weight, i);
        Vec<V> kept = load_vec<V>(to.momentum, i);
        for (int j = 0; j < V; j++) {
            const real g = sums.at[j] + to.weight_decay * own.at[j];
            kept.at[j] = to.keep * kept.at[j] + g;
        }
        store_vec(to.momentum, i, kept);
    }
    struct Element {
        const Momentum &of;
        long long i;
        __device__ void operator=(real sum) const { store_vec(of, i, Vec<1>{{sum}}); }
    };
    __device__ Element operator[](long long i) const { return {*this, i}; }
};
