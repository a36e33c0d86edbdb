// Slices of tensors: what lies in another one, in part of each of its rows.
#pragma once
#include "load.cuh"

// Strided: the elements of a slice as an array, s[i], i as if nothing lay between its rows: WIDTH
// elements side by side, the next row STRIDE elements further on.  Where it begins, WIDTH and
// STRIDE are multiples of PACK elements.
template <class T, long long WIDTH, long long STRIDE, int PACK>
struct Strided {
    static constexpr int PLAIN = PACK;
    T *first;
    static __device__ long long at(long long i)
    {
        return i + (long long)((unsigned long long)i / WIDTH) * (STRIDE - WIDTH);
    }
    __device__ T &operator[](long long i) const { return first[at(i)]; }
    template <int V>
    __device__ Pack<V> pack(long long i) const
    {
        if constexpr (PACK % V == 0) return load_pack<V>(first, at(i));
        else return pack_each<V>(*this, i);
    }
    template <int V>
    __device__ void put(long long i, const Pack<V> &v) const
    {
        if constexpr (PACK % V == 0) store_pack(first, at(i), v);
        else for (int j = 0; j < V; j++) first[at(i + j)] = v.at[j];
    }
};
