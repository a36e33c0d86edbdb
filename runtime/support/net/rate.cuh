// Schedules of the learning rate.
#pragma once
#include <cuda_runtime.h>
#include "header.cuh"

// schedule_rate: rate = base_rate * factor(steps since the warmup).  During the warmup it rises by
// base_rate / warmup per step.  One thread writes.
template <class Factor>
static __device__ void schedule_rate(StateHeader *header, long long warmup, Factor factor)
{
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    const long long step = (long long)header->step;
    header->rate = header->base_rate * (step < warmup ? (double)(step + 1) / (double)warmup
                                                      : factor((double)(step - warmup)));
}

// half_cosine: falls or rises from a at part 0 to b at part 1, and stays b.
static __device__ inline double half_cosine(double a, double b, double part)
{
    return part < 1 ? b + (a - b) * 0.5 * (1 + cos(3.14159265358979323846 * part)) : b;
}
