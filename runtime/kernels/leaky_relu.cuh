// Rectified linear units with a slope for negative elements.
#pragma once
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// leaky_relu: y = x > 0 ? x : slope * x.  The gradient needs y alone, because slope >= 0.
struct leaky_relu {
    static __device__ real forward(real x, real slope) { return x > 0 ? x : slope * x; }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i, real slope)
    {
        return y[i] > 0 ? dy : slope * dy;
    }
};
