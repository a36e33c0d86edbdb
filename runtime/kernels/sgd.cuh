// Stochastic gradient descent, with momentum or without.
#pragma once
#include "../support/net/header.cuh"
#include "../support/vec/tensor_list.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/real.cuh"

// SgdArrays: a parameter, all [count]; velocity may be null.
struct SgdArrays {
    real *weight;
    const real *gradient;
    real *velocity;
    real weight_decay, rate_factor;
    long long count;
};

// sgd_update: of each array, g = gradient + weight_decay * weight; v = momentum * v + g;
// weight -= rate * (nesterov ? g + momentum * v : v), where v is velocity, or g without
// one.  Weight and velocity in place.  A skipped step changes nothing.
template <bool scaled, int N, class... Last>
__global__ void sgd_update(const __grid_constant__ TensorList<SgdArrays, N> arrays,
                           const StateHeader *header, real momentum, bool nesterov, Last... last)
{
    if (!header->skip) {
        const real scale = scaled ? (real)header->gradient_scale : (real)1;
        const int k = arrays.own();
        const SgdArrays of = arrays.item[k];
        const real rate = (real)header->rate * of.rate_factor;
        FOR_EACH_OF(i, arrays, k, of.count) {
            const real g = scale * of.gradient[i] + of.weight_decay * of.weight[i];
            real direction = g;
            if (of.velocity) {
                const real v = momentum * of.velocity[i] + g;
                of.velocity[i] = v;
                direction = nesterov ? g + momentum * v : v;
            }
            of.weight[i] -= rate * direction;
        }
    }
    (last(), ...);
}

// SgdMoved: a parameter and its momentum, both [count].
struct SgdMoved {
    real *weight;
    const real *momentum;
    real rate_factor;
    long long count;
};

// sgd_move: weight -= rate * momentum for each array, unless the step is skipped.
template <int N, class... Last>
__global__ void sgd_move(const __grid_constant__ TensorList<SgdMoved, N> arrays,
                         const StateHeader *header, Last... last)
{
    if (!header->skip) {
        const int k = arrays.own();
        const SgdMoved of = arrays.item[k];
        const real rate = (real)header->rate * of.rate_factor;
        FOR_EACH_OF(i, arrays, k, of.count) of.weight[i] -= rate * of.momentum[i];
    }
    (last(), ...);
}
