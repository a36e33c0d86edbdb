// Adam, with L2 decay in the gradient, and AdamW, with the decay beside it.
#pragma once
#include <math.h>
#include "../support/elementwise.cuh"
#include "../support/norm_scale.cuh"
#include "../support/header.cuh"
#include "../support/real.cuh"

// adam_update: Adam in place on weight, m, v [count], with weight_decay * weight in the gradient,
// or decoupled: then the weight loses rate times that.  rest = 1 - beta, of which a float says
// more than of beta.  A skipped step changes nothing.
template <bool scaled, bool decoupled>
__global__ void adam_update(real *weight, const real *gradient, real *m, real *v,
                            const Header *header, real rest1, real rest2, real epsilon,
                            real weight_decay, long long count)
{
    __shared__ real rate, root;
    if (header->skip) return;
    if (threadIdx.x == 0) {
        const double t = (double)(header->updates + 1);
        rate = (real)(header->rate / (1 - pow(1 - (double)rest1, t)));
        root = (real)sqrt(1 - pow(1 - (double)rest2, t));
    }
    __syncthreads();
    const real scale = norm_scale<scaled>(header);
    const real lost = decoupled ? (real)header->rate * weight_decay : (real)0;
    FOR_EACH(i, count) {
        const real w = weight[i];
        const real g = scale * gradient[i] + (decoupled ? (real)0 : weight_decay * w);
        m[i] += rest1 * (g - m[i]);
        v[i] = (1 - rest2) * v[i] + rest2 * g * g;
        weight[i] = w - lost * w - rate * m[i] / (sqrt(v[i]) / root + epsilon);
    }
}
