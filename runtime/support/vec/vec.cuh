// Vectors: elements that are moved at once.  nvcc makes one load of a struct, but seldom one store.
#pragma once
#include <cuda_runtime.h>
#include <string.h>
#include <type_traits>
#include "real.cuh"
#include "unroll.cuh"

// Vec: V adjacent elements, which are moved at once.
template <int V, class T = real>
struct alignas(V * sizeof(T)) Vec { T at[V]; };

// ALIGNED: the pointer; the host runtime checks that it is a multiple of `bytes`.
#ifndef ALIGNED
#define ALIGNED(pointer, bytes) (pointer)
#endif

// each_word: put(at, word) for the words of a vector, which nvcc would store element by element.
template <int V, class T, class Put>
static __device__ inline void each_word(T *at, const Vec<V, T> &vec, const Put &put)
{
    typedef std::conditional_t<sizeof vec == 1, unsigned char,
            std::conditional_t<sizeof vec == 2, unsigned short,
            std::conditional_t<sizeof vec == 4, unsigned,
            std::conditional_t<sizeof vec == 8, uint2, uint4>>>> Word;
    Word word[sizeof vec / sizeof(Word)];
    memcpy(word, &vec, sizeof vec);
    UNROLL for (int k = 0; k < (int)(sizeof vec / sizeof(Word)); k++)
        put((Word *)ALIGNED(at, sizeof vec) + k, word[k]);
}

// STORE_SHARED: stores a word to shared memory; the host runtime's may alias all types.
#ifndef STORE_SHARED
#define STORE_SHARED(pointer, word) (*(pointer) = (word))
#endif

// store_shared: stores a vector to shared memory.
template <int V, class T>
static __device__ inline void store_shared(T *at, const Vec<V, T> &vec)
{
    each_word(at, vec, [](auto *to, auto word) { STORE_SHARED(to, word); });
}
