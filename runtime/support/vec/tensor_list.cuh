// Kernels that process several arrays in one launch.
#pragma once
#include <cuda_runtime.h>

// TensorList: N arrays of one launch; blocks from first[k] on are for array k.  A kernel may have
// 4096 bytes of arguments; grid constants can be indexed without a copy.
template <class Item, int N>
struct TensorList {
    Item item[N];
    int first[N];
    static_assert(sizeof(Item) * N + sizeof(int) * N <= 3968, "too many arrays for a launch");
    // The array of this block, and how many blocks it has.
    __device__ int own() const
    {
        int k = 0;
        for (int end = N; end - k > 1;) {
            const int middle = (k + end) / 2;
            (first[middle] <= (int)blockIdx.x ? k : end) = middle;
        }
        return k;
    }
    __device__ int blocks(int k) const
    {
        return (k + 1 < N ? first[k + 1] : (int)gridDim.x) - first[k];
    }
};

// FOR_OWN_OF: FOR_OWN with the blocks of array k.
#define FOR_OWN_OF(i, items, k, count)                                                     \
    for (long long i = (long long)((int)blockIdx.x - items.first[k]) * blockDim.x +         \
                       threadIdx.x;                                                         \
         i < (count); i += (long long)items.blocks(k) * blockDim.x)

// FOR_EACH_OF: FOR_EACH with the blocks of array k.
#ifndef FOR_EACH_OF
#define FOR_EACH_OF FOR_OWN_OF
#endif
