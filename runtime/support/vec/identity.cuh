// What stands in for an activation where there is none.
#pragma once
#include "real.cuh"

// identity: y = x; in a backward launch nothing is read of y, which may be null.
struct identity {
    static __device__ real forward(real x) { return x; }
    template <class Y>
    static __device__ real gradient(real dy, Y, long long) { return dy; }
};
