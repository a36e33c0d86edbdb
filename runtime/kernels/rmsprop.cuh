// RMSprop, with momentum or without.
#pragma once
#include <math.h>
#include "../support/net/header.cuh"
#include "../support/vec/tensor_list.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/real.cuh"

// RmspropArrays: a parameter, all [count]; velocity may be null.
struct RmspropArrays {
    real *weight;
    const real *gradient;
    real *square, *velocity;
    real weight_decay, rate_factor;
    long long count;
};

// rmsprop_update: of each array, g = gradient + weight_decay * weight;
// square += rest * (g * g - square); d = g / (sqrt(square) + epsilon); v = momentum * v + d;
// weight -= rate * v, where v is velocity, or d without one.  Weight, square and velocity in
// place.  rest = 1 - decay, of which a float says more than of decay.  A skipped step changes
// nothing.
template <bool scaled, int N, class... Last>
__global__ void rmsprop_update(const __grid_constant__ TensorList<RmspropArrays, N> arrays,
                               const StateHeader *header, real rest, real epsilon, real momentum,
                               Last... last)
{
    if (!header->skip) {
        const real scale = scaled ? (real)header->gradient_scale : (real)1;
        const int k = arrays.own();
        const RmspropArrays of = arrays.item[k];
        const real rate = (real)header->rate * of.rate_factor;
        FOR_EACH_OF(i, arrays, k, of.count) {
            const real g = scale * of.gradient[i] + of.weight_decay * of.weight[i];
            const real s = (1 - rest) * of.square[i] + rest * g * g;
            real direction = g / (sqrt(s) + epsilon);
            of.square[i] = s;
            if (of.velocity) of.velocity[i] = direction = momentum * of.velocity[i] + direction;
            of.weight[i] -= rate * direction;
        }
    }
    (last(), ...);
}
