// The quotient of two tensors, element by element.
#pragma once
#include "../support/vec/broadcast.cuh"
#include "../support/vec/real.cuh"

// division: y = a / b; the gradient of a needs b, that of b needs both.
struct division {
    static __device__ real forward(real a, real b) { return a / b; }
    template <int SIDE, class A, class B>
    static __device__ real gradient(real dy, A a, long long i, B b, long long j)
    {
        return SIDE == 0 ? dy / b[j] : -dy * (a[i] / b[j]) / b[j];
    }
};
