// Gradients that are added to a momentum as they are stored.
#pragma once
#include "header.cuh"
#include "real.cuh"

// Momentum: what a kernel that makes a gradient is given in the place of its pointer, so that
// gradient[i] = sum adds the sum, and weight_decay * weight[i], to what is kept of the momentum.
// A skipped step leaves that alone.
struct Momentum {
    real *momentum;
    const real *weight;
    const Header *header;
    real keep, weight_decay;
    struct Element {
        const Momentum &of;
        long long i;
        __device__ void operator=(real sum) const
        {
            const Header *const header = of.header;
            if (header->skip) return;
            const real g = sum + of.weight_decay * of.weight[i];
            of.momentum[i] = of.keep * of.momentum[i] + g;
        }
    };
    __device__ Element operator[](long long i) const { return {*this, i}; }
};
