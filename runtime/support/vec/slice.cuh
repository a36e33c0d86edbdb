// Slices of tensors: strided views of a part of each row of another tensor.
#pragma once
#include "load.cuh"

// Strided: a slice as a contiguous array s[i].  In memory a row has WIDTH adjacent elements, and
// the next row is STRIDE elements further on.  Its begin, WIDTH and STRIDE are multiples of VEC
// elements, which are moved at once, or fewer: V and VEC are powers of 2.
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
