// The factor of gradients in the header.
#pragma once
#include <cuda_runtime.h>
#include "header.cuh"
#include "../vec/real.cuh"

// norm_scale: the factor of gradients if norms are clipped or the loss is scaled, otherwise 1.
template <bool scaled>
static __device__ inline real norm_scale(const StateHeader *header)
{
    return scaled ? (real)header->gradient_scale : (real)1;
}
