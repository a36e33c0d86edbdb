// The end of a training step.
#pragma once
#include <cuda_runtime.h>
#include "../support/net/header.cuh"
#include "../support/vec/last_block.cuh"

// AdvanceStep: the Last of a training step's last launch: step += 1, and updates += 1 unless the
// step was skipped.
struct AdvanceStep {
    StateHeader *header;
    __device__ void operator()() const
    {
        if (!count_block(&header->arrivals, gridDim.x)) return;
        header->step += 1;
        header->updates += !header->skip;
    }
};
