// Kernels that do the same to several arrays in one launch.
#pragma once
#include <cuda_runtime.h>

// TensorList: what a launch is told of each of N arrays.  Blocks are dealt out in order: first[k]
// is the first of array k's.  Arguments of a kernel may have 4096 bytes; as grid constants they are
// not copied to index them.
template <class Item, int N>
struct TensorList {
    Item item[N];
    int first[N];
    static_assert(sizeof(Item) * N + sizeof(int) * N <= 3968, "too many arrays for a launch");
};

// item_of_block: the array that this block belongs to, the last one that begins at or before it.
template <class Item, int N>
static __device__ inline int item_of_block(const TensorList<Item, N> &items)
{
    int k = 0, end = N;
    while (end - k > 1) {
        const int middle = (k + end) / 2;
        if (items.first[middle] <= (int)blockIdx.x) k = middle;
        else end = middle;
    }
    return k;
}

// blocks_of_item: how many blocks array k has.
template <class Item, int N>
static __device__ inline int blocks_of_item(const TensorList<Item, N> &items, int k)
{
    return (k + 1 < N ? items.first[k + 1] : (int)gridDim.x) - items.first[k];
}

// FOR_EACH_OF: the blocks of array k take its elements below count, as FOR_EACH those of a grid.
#define FOR_EACH_OF(i, items, k, count)                                                     \
    for (long long i = (long long)((int)blockIdx.x - items.first[k]) * blockDim.x +         \
                       threadIdx.x;                                                         \
         i < (count); i += (long long)blocks_of_item(items, k) * blockDim.x)
