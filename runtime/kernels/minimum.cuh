// The smaller of two elements.
#pragma once
#include "../support/vec/broadcast.cuh"
#include "../support/vec/real.cuh"

// smaller_of: y = min(a, b), NaN if either is; if they are equal, only a gets the gradient.
struct smaller_of {
    static __device__ real forward(real a, real b) { return a <= b || a != a ? a : b; }
    template <int SIDE, class A, class B>
    static __device__ real gradient(real dy, A a, long long i, B b, long long j)
    {
        return (a[i] <= b[j] || a[i] != a[i]) == (SIDE == 0) ? dy : (real)0;
    }
};
