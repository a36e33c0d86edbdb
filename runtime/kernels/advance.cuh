// The end of a training step.
#pragma once
#include <cuda_runtime.h>
#include "../support/header.cuh"

// advance_step: step += 1; updates += 1 unless the step was skipped.  One thread counts.
__global__ void advance_step(Header *header)
{
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    header->step += 1;
    header->updates += !header->skip;
}
