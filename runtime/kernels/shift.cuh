// Elements plus a number.
#pragma once
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// plus_number: y = x + value.
struct plus_number {
    static __device__ real forward(real x, real value) { return x + value; }
};
