// Slices of tensors: what lies in another one, in part of each of its rows.
#pragma once
#include "load.cuh"

// Strided: the elements of a slice as an array, s[i], i as if nothing lay between its rows: WIDTH
// elements side by side, the next row STRIDE elements further on.  Where it begins, WIDTH and
// STRIDE are multiples of VEC elements, which move at once, or fewer: V and VEC are powers of 2.
template <class T, long long WIDTH, long long STRIDE, int VEC>
struct Strided {
    static constexpr int PLAIN = VEC;
    T *first;
    static __device__ long long at(long long i)
    {
        return i + (long long)((unsigned long long)i / WIDTH) * (STRIDE - WIDTH);
    }
    __device__ T &operator[](long long i) const { return first[at(i)]; }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const
    {
        constexpr int SIDE = V < VEC ? V : VEC;
        Vec<V> v;
        for (int j = 0; j < V; j += SIDE) {
            const Vec<SIDE> some = load_vec<SIDE>(first, at(i + j));
            for (int k = 0; k < SIDE; k++) v.at[j + k] = some.at[k];
        }
        return v;
    }
    template <int V>
    friend __device__ void store_vec(const Strided &to, long long i, const Vec<V> &v)
    {
        constexpr int SIDE = V < VEC ? V : VEC;
        for (int j = 0; j < V; j += SIDE) {
            Vec<SIDE> some;
            for (int k = 0; k < SIDE; k++) some.at[k] = v.at[j + k];
            store_vec(to.first, at(i + j), some);
        }
    }
};
