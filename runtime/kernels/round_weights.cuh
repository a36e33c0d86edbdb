// Copies of parameters in 16 bits, for products on tensor cores.
#pragma once
#include "../support/vec/load.cuh"
#include "../support/vec/tensor_list.cuh"

// RoundedWeights: a parameter and its copy, both [count].
template <class T>
struct RoundedWeights {
    T *rounded;
    const real *weight;
    long long count;
};

// round_weights: rounds each array to T, 8 elements a thread; the last block of an array has the
// rest.
template <class T, int N>
__global__ void round_weights(const __grid_constant__ TensorList<RoundedWeights<T>, N> arrays)
{
    constexpr int V = 8;
    const int k = arrays.own();
    const RoundedWeights<T> of = arrays.item[k];
    FOR_OWN_OF(i, arrays, k, of.count / V)
        store_vec(of.rounded, V * i, load_vec<V>(of.weight, V * i));
    const long long i = of.count / V * V + threadIdx.x;
    if (i < of.count && (int)blockIdx.x - arrays.first[k] + 1 == arrays.blocks(k))
        of.rounded[i] = of.weight[i];
}
