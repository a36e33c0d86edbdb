// RMSprop, with momentum or without.
#pragma once
#include <math.h>
#include "../support/net/header.cuh"
#include "../support/net/updated_weight.cuh"
#include "../support/vec/tensor_list.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/real.cuh"

// RmspropArrays: a parameter, all [count]; velocity may be null.
template <class Weight>
struct RmspropArrays {
    Weight weight;
    const real *gradient;
    real *square, *velocity;
    real weight_decay, rate_factor;
    long long count;
};

// rmsprop_update: of each array, g = gradient + weight_decay * weight;
// square += rest * (g * g - square); d = g / (sqrt(square) + epsilon); v = momentum * v + d;
// weight -= rate * v, where v is velocity, or d without one.  Weight, square and velocity in
// place.  rest = 1 - decay, of which a float says more than of decay.  A skipped step changes
// nothing.  Weight is real * or PrunedWeight.
template <class Weight, bool scaled, int N, class... Last>
__global__ void rmsprop_update(const __grid_constant__ TensorList<RmspropArrays<Weight>, N> arrays,
                               const StateHeader *header, real rest, real epsilon, real momentum,
                               Last... last)
{
    if (!header->skip) {
        const real scale = scaled ? (real)header->gradient_scale : (real)1;
        const int k = arrays.own();
        const RmspropArrays<Weight> of = arrays.item[k];
        const auto weight = updated_weight(of.weight, header);
        const real rate = (real)header->rate * of.rate_factor;
        FOR_EACH_OF(i, arrays, k, of.count) {
            const real g = scale * of.gradient[i] + of.weight_decay * weight[i];
            const real s = (1 - rest) * of.square[i] + rest * g * g;
            real direction = g / (sqrt(s) + epsilon);
            of.square[i] = s;
            if (of.velocity) of.velocity[i] = direction = momentum * of.velocity[i] + direction;
            weight[i] = weight[i] - rate * direction;
        }
    }
    (last(), ...);
}
