// Adam, with L2 decay in the gradient.
#pragma once
#include <math.h>
#include "../support/elementwise.cuh"
#include "../support/header.cuh"
#include "../support/real.cuh"

// adam_update: g = gradient + weight_decay * weight; m += rest1 * (g - m);
// v = beta2 * v + rest2 * g * g;
// weight -= rate * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon) at update number t.
// All [count]; a thread takes single elements; weight, m and v in place.  Skipped steps return.
// rest1 and rest2 are 1 - beta1 and 1 - beta2: as a float, 0.001 says more than 0.999 does.
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
    const real beta2 = (real)(1 - (double)rest2);
    for (long long i = first_element(); i < count; i += element_stride()) {
        const real g = gradient[i] + weight_decay * weight[i];
        const real mean = m[i] + rest1 * (g - m[i]), square = beta2 * v[i] + rest2 * g * g;
        m[i] = mean;
        v[i] = square;
        weight[i] -= rate * mean / (sqrt(square) / root + epsilon);
    }
}
