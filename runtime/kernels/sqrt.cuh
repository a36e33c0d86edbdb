// Square roots.
#pragma once
#include <math.h>
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// square_root: y = sqrt(x).  The gradient, dy / (2 * y), needs y alone.
struct square_root {
    static __device__ real forward(real x) { return sqrt(x); }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i)
    {
        return dy / (2 * y[i]);
    }
};
