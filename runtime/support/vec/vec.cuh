// What moves at once.  nvcc makes one load of a struct's elements, but seldom one store; so vectors
// are stored as words: here to global memory, in shared.cuh to shared memory.
#pragma once
#include <cuda_runtime.h>
#include <string.h>
#include "real.cuh"
#include "unroll.cuh"

// Vec: V elements that lie side by side and move at once.
template <int V, class T = real>
struct alignas(V * sizeof(T)) Vec { T at[V]; };

// vec_at: the vector that begins at an element, aligned: the host looks, where a device would fail.
template <class P, class T>
static __device__ inline P *vec_at(T *at)
{
#ifndef __CUDACC__
    host_check_aligned(at, alignof(P));
#endif
    return (P *)at;
}

// VecWord: what vectors of BYTES move as, 16 bytes where they are larger.
#ifdef __CUDACC__
template <int BYTES> struct VecWord { typedef uint4 type; };
template <> struct VecWord<8> { typedef uint2 type; };
template <> struct VecWord<4> { typedef unsigned type; };
template <> struct VecWord<2> { typedef unsigned short type; };
#endif

// each_word: put(at, word) for the words of a vector that goes to `at`.
#ifdef __CUDACC__
template <int V, class T, class Put>
static __device__ inline void each_word(T *at, const Vec<V, T> &vec, const Put &put)
{
    typename VecWord<sizeof vec>::type word;
    UNROLL for (int k = 0; k < (int)(sizeof vec / sizeof word); k++) {
        memcpy(&word, (const char *)&vec + k * sizeof word, sizeof word);
        put((decltype(word) *)at + k, word);
    }
}
#endif

// put_vec: a vector to global memory, `at` a multiple of its size.
template <int V, class T>
static __device__ inline void put_vec(T *at, const Vec<V, T> &vec)
{
#ifdef __CUDACC__
    each_word(at, vec, [](auto *to, auto word) { __stwb(to, word); });
#else
    *vec_at<Vec<V, T>>(at) = vec;
#endif
}
