// What moves at once.  nvcc makes one load of a struct's elements, but seldom one store; so packs
// are stored as words: here to global memory, in shared.cuh to shared memory.
#pragma once
#include <cuda_runtime.h>
#include <string.h>
#include "real.cuh"
#include "unroll.cuh"

// Pack: V elements that lie side by side and move at once.
template <int V, class T = real>
struct alignas(V * sizeof(T)) Pack { T at[V]; };

// pack_at: the pack that begins at an element, aligned: the host looks, where a device would fail.
template <class P, class T>
static __device__ inline P *pack_at(T *at)
{
#ifndef __CUDACC__
    host_check_aligned(at, alignof(P));
#endif
    return (P *)at;
}

// PackWord: what packs of BYTES move as, 16 bytes where they are larger.
#ifdef __CUDACC__
template <int BYTES> struct PackWord { typedef uint4 type; };
template <> struct PackWord<8> { typedef uint2 type; };
template <> struct PackWord<4> { typedef unsigned type; };
template <> struct PackWord<2> { typedef unsigned short type; };
#endif

// each_word: put(at, word) for the words of a pack that goes to `at`.
#ifdef __CUDACC__
template <int V, class T, class Put>
static __device__ inline void each_word(T *at, const Pack<V, T> &pack, const Put &put)
{
    typename PackWord<sizeof pack>::type word;
    UNROLL for (int k = 0; k < (int)(sizeof pack / sizeof word); k++) {
        memcpy(&word, (const char *)&pack + k * sizeof word, sizeof word);
        put((decltype(word) *)at + k, word);
    }
}
#endif

// put_pack: a pack to global memory, `at` a multiple of its size.
template <int V, class T>
static __device__ inline void put_pack(T *at, const Pack<V, T> &pack)
{
#ifdef __CUDACC__
    each_word(at, pack, [](auto *to, auto word) { __stwb(to, word); });
#else
    *pack_at<Pack<V, T>>(at) = pack;
#endif
}
