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
};

// item_of_block: the array of this block.
template <class Item, int N>
static __device__ inline int item_of_block(const TensorList<Item, N> &items)
{
    int k = 0;
    for (int end = N; end - k > 1;) {
        const int middle = (k + end) / 2;
        (items.first[middle] <= (int)blockIdx.x ? k : end) = middle;
    }
    return k;
}

// blocks_of_item: the number of blocks of array k.
template <class Item, int N>
static __device__ inline int blocks_of_item(const TensorList<Item, N> &items, int k)
{
    return (k + 1 < N ? items.first[k + 1] : (int)gridDim.x) - items.first[k];
}

// FOR_EACH_OF: FOR_EACH with the blocks of array k.
#define FOR_EACH_OF(i, items, k, count)                                                     \
    for (long long i = (long long)((int)blockIdx.x - items.first[k]) * blockDim.x +         \
                       threadIdx.x;                                                         \
         i < (count); i += (long long)blocks_of_item(items, k) * blockDim.x)
