// Stochastic gradient descent, with momentum or without.
#pragma once
#include "../support/elementwise.cuh"
#include "../support/norm_scale.cuh"
#include "../support/header.cuh"
#include "../support/real.cuh"

// sgd_update: g = gradient + weight_decay * weight; v = momentum * v + g;
// weight -= rate * (nesterov ? g + momentum * v : v), where v is velocity, or g without one.  All
// [count]; weight and velocity in place.  Skipped steps return.
template <bool scaled>
__global__ void sgd_update(real *weight, const real *gradient, real *velocity, const Header *header,
                           real momentum, bool nesterov, real weight_decay, long long count)
{
    if (header->skip) return;
    const real rate = (real)header->rate, scale = norm_scale<scaled>(header);
    FOR_EACH(i, count) {
        const real g = scale * gradient[i] + weight_decay * weight[i];
        real direction = g;
        if (velocity) {
            const real v = momentum * velocity[i] + g;
            velocity[i] = v;
            direction = nesterov ? g + momentum * v : v;
        }
        weight[i] -= rate * direction;
    }
}

// sgd_move: weight -= rate * momentum, both [count], where the gradient has been added to the
// momentum.  Skipped steps return.
__global__ void sgd_move(real *weight, const real *momentum, const Header *header, long long count)
{
    if (header->skip) return;
    const real rate = (real)header->rate;
    FOR_EACH(i, count) weight[i] -= rate * momentum[i];
}
