// What stands in for an activation where there is none.
#pragma once
#include "real.cuh"

// identity: y = x; in a backward launch nothing is read of y, which may be null.
struct identity {
    static __device__ real forward(real x) { return x; }
    static __device__ real gradient(real dy, const real *, long long) { return dy; }
};
