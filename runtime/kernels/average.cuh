// Averages of parameters over the training steps.
#pragma once
#include "../support/net/header.cuh"
#include "../support/vec/tensor_list.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/real.cuh"

// AveragedArrays: a parameter and its average, both [count].
struct AveragedArrays {
    real *average;
    const real *weight;
    long long count;
};

// average_weights: of each array, average += rest * (weight - average), in place; after the update
// of weight.  A skipped step changes nothing.
template <int N, class... Last>
__global__ void average_weights(const __grid_constant__ TensorList<AveragedArrays, N> arrays,
                                const StateHeader *header, real rest, Last... last)
{
    if (!header->skip) {
        const int k = arrays.own();
        const AveragedArrays of = arrays.item[k];
        FOR_EACH_OF(i, arrays, k, of.count) of.average[i] += rest * (of.weight[i] - of.average[i]);
    }
    (last(), ...);
}
