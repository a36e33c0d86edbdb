// Lists of constants of the program, as an argument of a kernel.
#pragma once
#include "real.cuh"
#include "unroll.cuh"

// List: COUNT numbers, by value; a kernel's arguments may take 4 KB in all.
template <int COUNT>
struct List { real at[COUNT]; };

// list_pick: the i-th number of a list, or its only one.  Comparisons keep the list in registers.
template <int COUNT>
static __device__ inline real list_pick(const List<COUNT> &list, int i)
{
    real picked = list.at[0];
    UNROLL for (int k = 1; k < COUNT; k++) picked = i == k ? list.at[k] : picked;
    return picked;
}
