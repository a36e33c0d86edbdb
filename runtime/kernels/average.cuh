// Averages of parameters over the training steps.
#pragma once
#include "../support/elementwise.cuh"
#include "../support/header.cuh"
#include "../support/real.cuh"

// average_weights: average += rest * (weight - average), [count], in place; after the update of
// weight.  A skipped step changes nothing.
__global__ void average_weights(real *average, const real *weight, const Header *header, real rest,
                                long long count)
{
    if (header->skip) return;
    FOR_EACH(i, count) average[i] += rest * (weight[i] - average[i]);
}
