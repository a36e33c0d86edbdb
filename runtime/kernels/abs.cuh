// Absolute values.
#pragma once
#include <math.h>
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// absolute: y = |x|.  The gradient needs x; it is 0 at x = 0, and NaN at NaN.
struct absolute {
    static __device__ real forward(real x) { return fabs(x); }
    template <class X>
    static __device__ real gradient(real dy, X x, long long i)
    {
        const real v = x[i];
        return v > 0 ? dy : v < 0 ? -dy : v * dy;
    }
};
