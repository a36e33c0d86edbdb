// The product of two tensors, element by element.
#pragma once
#include "../support/vec/broadcast.cuh"
#include "../support/vec/real.cuh"

// multiplication: y = a * b; the gradient of an operand needs the other one.
struct multiplication {
    static __device__ real forward(real a, real b) { return a * b; }
    template <int SIDE, class A, class B>
    static __device__ real gradient(real dy, A a, long long i, B b, long long j)
    {
        return dy * (SIDE == 0 ? b[j] : a[i]);
    }
};
