// Numbers that the program gives, as an argument of a kernel.
#pragma once
#include "real.cuh"
#include "unroll.cuh"

// List: COUNT numbers, by value; a kernel's arguments may take 4 KB in all.
template <int COUNT>
struct List { real at[COUNT]; };

// list_pick: the i-th number of a list; one number is meant for all.  Found by comparing, for an
// index would put the list, and what else lies in a struct with it, in memory.
template <int COUNT>
static __device__ inline real list_pick(const List<COUNT> &list, int i)
{
    real picked = list.at[0];
    UNROLL for (int k = 1; k < COUNT; k++) picked = i == k ? list.at[k] : picked;
    return picked;
}
