// The weight that an optimizer updates.
#pragma once
#include "header.cuh"

// updated_weight: the elements of a weight, for an optimizer; a PrunedWeight has its own.
template <class T>
static __device__ inline T *updated_weight(T *weight, const StateHeader *)
{
    return weight;
}
