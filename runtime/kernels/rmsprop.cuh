// RMSprop, with momentum or without.
#pragma once
#include <math.h>
#include "../support/elementwise.cuh"
#include "../support/norm_scale.cuh"
#include "../support/header.cuh"
#include "../support/real.cuh"

// rmsprop_update: g = gradient + weight_decay * weight; square += rest * (g * g - square);
// d = g / (sqrt(square) + epsilon); v = momentum * v + d; weight -= rate * v, where v is velocity,
// or d without one.  All [count]; weight, square and velocity in place.  rest = 1 - decay, of
// which a float says more than of decay.  A skipped step changes nothing.
template <bool scaled>
__global__ void rmsprop_update(real *weight, const real *gradient, real *square, real *velocity,
                               const Header *header, real rest, real epsilon, real momentum,
                               real weight_decay, long long count)
{
    if (header->skip) return;
    const real rate = (real)header->rate, scale = norm_scale<scaled>(header);
    FOR_EACH(i, count) {
        const real g = scale * gradient[i] + weight_decay * weight[i];
        const real s = (1 - rest) * square[i] + rest * g * g;
        real direction = g / (sqrt(s) + epsilon);
        square[i] = s;
        if (velocity) velocity[i] = direction = momentum * velocity[i] + direction;
        weight[i] -= rate * direction;
    }
}
