// Rectified linear units: y = max(x, 0).
#pragma once
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// relu: NaN stays, and -0 becomes 0.  The gradient is 0 at y = 0.
struct relu {
    static __device__ real forward(real x) { return x <= 0 ? 0 : x; }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i)
    {
        return y[i] <= 0 ? 0 : dy;
    }
};
