// Vectors: what moves at once.  nvcc makes one load of a struct's elements, but seldom one store, so
// vectors are stored as words.
#pragma once
#include <cuda_runtime.h>
#include "real.cuh"
#include "unroll.cuh"

// Vec: V adjacent elements, which move at once.
template <int V, class T = real>
struct alignas(V * sizeof(T)) Vec { T at[V]; };

// ALIGNED: the pointer; the host runtime checks that it is a multiple of `bytes`.
#ifndef ALIGNED
#define ALIGNED(pointer, bytes) (pointer)
#endif

// VecWord: the type that moves BYTES at once, 16 at most.
template <int BYTES> struct VecWord { typedef uint4 type; };
template <> struct VecWord<8> { typedef uint2 type; };
template <> struct VecWord<4> { typedef uint1 type; };
template <> struct VecWord<2> { typedef ushort1 type; };

// put_vec: stores a vector, by words: nvcc would store the elements of a struct one by one.
template <int V, class T>
static __device__ inline void put_vec(T *at, const Vec<V, T> &vec)
{
    typedef typename VecWord<sizeof vec>::type Word;
    UNROLL for (int k = 0; k < (int)(sizeof vec / sizeof(Word)); k++)
        ((Word *)ALIGNED(at, sizeof vec))[k] = ((const Word *)&vec)[k];
}
