// Rectified linear units with the upper limit 6.
#pragma once
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// relu6: y = min(max(x, 0), 6); NaN stays, -0 becomes 0.  The gradient needs y alone; it is 0 at y
// = 0 and y = 6.
struct relu6 {
    static __device__ real forward(real x) { return x <= 0 ? (real)0 : x > 6 ? (real)6 : x; }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i)
    {
        return y[i] <= 0 || y[i] >= 6 ? 0 : dy;
    }
};
