// Adam, with L2 decay in the gradient, and AdamW, with decoupled decay.
#pragma once
#include <math.h>
#include "../support/net/header.cuh"
#include "../support/net/updated_weight.cuh"
#include "../support/vec/tensor_list.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/real.cuh"

// AdamArrays: a parameter, all [count].
template <class Weight>
struct AdamArrays {
    Weight weight;
    const real *gradient;
    real *m, *v;
    real weight_decay, rate_factor;
    long long count;
};

// adam_update: Adam in place on the weight, m and v of each array, with weight decay in the
// gradient or decoupled.  A rest is 1 - beta, which is more exact as a float.  A skipped step
// changes nothing.  Weight is real * or PrunedWeight.
template <class Weight, bool scaled, bool decoupled, int N, class... Last>
__global__ void adam_update(const __grid_constant__ TensorList<AdamArrays<Weight>, N> arrays,
                            const StateHeader *header, real rest1, real rest2, real epsilon,
                            Last... last)
{
    ELEMENTWISE;
    __shared__ real rate, root;
    if (!header->skip) {
        if (threadIdx.x == 0) {
            const double t = (double)(header->updates + 1);
            rate = (real)(header->rate / (1 - pow(1 - (double)rest1, t)));
            root = (real)sqrt(1 - pow(1 - (double)rest2, t));
        }
        __syncthreads();
        const real scale = scaled ? (real)header->gradient_scale : (real)1;
        const int k = arrays.own();
        const AdamArrays<Weight> of = arrays.item[k];
        const auto weight = updated_weight(of.weight, header);
        const real own_rate = rate * of.rate_factor;
        const real lost =
            decoupled ? (real)header->rate * of.rate_factor * of.weight_decay : (real)0;
        FOR_EACH_OF(i, arrays, k, of.count) {
            const real w = weight[i];
            const real g = scale * of.gradient[i] + (decoupled ? (real)0 : of.weight_decay * w);
            of.m[i] += rest1 * (g - of.m[i]);
            of.v[i] = (1 - rest2) * of.v[i] + rest2 * g * g;
            weight[i] = w - lost * w - own_rate * of.m[i] / (sqrt(of.v[i]) / root + epsilon);
        }
    }
    (last(), ...);
}
