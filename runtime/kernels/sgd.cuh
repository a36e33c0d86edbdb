// Stochastic gradient descent, with momentum or without.
#pragma once
#include "../support/net/header.cuh"
#include "../support/net/updated_weight.cuh"
#include "../support/vec/tensor_list.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/real.cuh"

// SgdArrays: a parameter, all [count]; velocity may be null.
template <class Weight>
struct SgdArrays {
    Weight weight;
    const real *gradient;
    real *velocity;
    real weight_decay, rate_factor;
    long long count;
};

// sgd_update: of each array, g = gradient + weight_decay * weight; v = momentum * v + g;
// weight -= rate * (nesterov ? g + momentum * v : v), where v is velocity, or g without
// one.  Weight and velocity in place.  A skipped step changes nothing.  Weight is real * or
// PrunedWeight.
template <class Weight, bool scaled, int N, class... Last>
__global__ void sgd_update(const __grid_constant__ TensorList<SgdArrays<Weight>, N> arrays,
                           const StateHeader *header, real momentum, bool nesterov, Last... last)
{
    if (!header->skip) {
        const real scale = scaled ? (real)header->gradient_scale : (real)1;
        const int k = arrays.own();
        const SgdArrays<Weight> of = arrays.item[k];
        const auto weight = updated_weight(of.weight, header);
        const real rate = (real)header->rate * of.rate_factor;
        FOR_EACH_OF(i, arrays, k, of.count) {
            const real g = scale * of.gradient[i] + of.weight_decay * weight[i];
            real direction = g;
            if (of.velocity) {
                const real v = momentum * of.velocity[i] + g;
                of.velocity[i] = v;
                direction = nesterov ? g + momentum * v : v;
            }
            weight[i] = weight[i] - rate * direction;
        }
    }
    (last(), ...);
}

// SgdMoved: a parameter and its momentum, both [count].
template <class Weight>
struct SgdMoved {
    Weight weight;
    const real *momentum;
    real rate_factor;
    long long count;
};

// sgd_move: weight -= rate * momentum for each array, unless the step is skipped.
template <class Weight, int N, class... Last>
__global__ void sgd_move(const __grid_constant__ TensorList<SgdMoved<Weight>, N> arrays,
                         const StateHeader *header, Last... last)
{
    if (!header->skip) {
        const int k = arrays.own();
        const SgdMoved<Weight> of = arrays.item[k];
        const auto weight = updated_weight(of.weight, header);
        const real rate = (real)header->rate * of.rate_factor;
        FOR_EACH_OF(i, arrays, k, of.count) weight[i] = weight[i] - rate * of.momentum[i];
    }
    (last(), ...);
}
