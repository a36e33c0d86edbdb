// The difference of two tensors.
#pragma once
#include "../support/vec/broadcast.cuh"
#include "../support/vec/real.cuh"

// subtraction: y = a - b.
struct subtraction {
    static __device__ real forward(real a, real b) { return a - b; }
    template <int SIDE, class A, class B>
    static __device__ real gradient(real dy, A, long long, B, long long)
    {
        return SIDE == 0 ? dy : -dy;
    }
};
