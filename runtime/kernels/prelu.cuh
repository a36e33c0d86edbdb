// Rectifiers with a slope that is trained.
#pragma once
#include "../support/vec/broadcast.cuh"
#include "../support/vec/real.cuh"

// prelu: y = a > 0 ? a : a * b, where b is the slope.
struct prelu {
    static __device__ real forward(real a, real b) { return a > 0 ? a : a * b; }
    template <int SIDE, class A, class B>
    static __device__ real gradient(real dy, A a, long long i, B b, long long j)
    {
        if (a[i] > 0) return SIDE == 0 ? dy : (real)0;
        return dy * (SIDE == 0 ? (real)b[j] : (real)a[i]);
    }
};
