// The activation of a kernel without one.
#pragma once
#include "real.cuh"

// identity: y = x; the gradient does not read y, which may be null.
struct identity {
    static __device__ real forward(real x) { return x; }
    template <class Y>
    static __device__ real gradient(real dy, Y, long long) { return dy; }
};
