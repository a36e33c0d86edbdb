// Stores of vectors to shared memory, in PTX: CUDA C has none that is sure to be one instruction.
#pragma once
#include "vec.cuh"

// shared_address: where p, in shared memory, lies as PTX counts.
#ifdef __CUDACC__
template <class T>
static __device__ inline unsigned shared_address(const T *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}
#endif

// SharedStore: of a VecWord.
#ifdef __CUDACC__
struct SharedStore {
    __device__ void operator()(uint4 *at, uint4 w) const
    {
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                     :: "r"(shared_address(at)), "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w)
                     : "memory");
    }
    __device__ void operator()(uint2 *at, uint2 w) const
    {
        asm volatile("st.shared.v2.u32 [%0], {%1, %2};"
                     :: "r"(shared_address(at)), "r"(w.x), "r"(w.y) : "memory");
    }
    __device__ void operator()(unsigned *at, unsigned w) const
    {
        asm volatile("st.shared.u32 [%0], %1;" :: "r"(shared_address(at)), "r"(w) : "memory");
    }
    __device__ void operator()(unsigned short *at, unsigned short w) const
    {
        asm volatile("st.shared.u16 [%0], %1;" :: "r"(shared_address(at)), "h"(w) : "memory");
    }
};
#endif

// store_shared: a vector to shared memory, `at` a multiple of its size.
template <int V, class T>
static __device__ inline void store_shared(T *at, const Vec<V, T> &vec)
{
#ifdef __CUDACC__
    each_word(at, vec, SharedStore());
#else
    *vec_at<Vec<V, T>>(at) = vec;
#endif
}
