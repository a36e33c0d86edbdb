// Elements limited to a range.
#pragma once
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// clamped: y = min(max(x, low), high); NaN stays.  The gradient needs y alone; it is 0 at a bound.
struct clamped {
    static __device__ real forward(real x, real low, real high)
    {
        return x < low ? low : x > high ? high : x;
    }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i, real low, real high)
    {
        return y[i] <= low || y[i] >= high ? (real)0 : dy;
    }
};

// at_least: clamped without the bound `high`.
struct at_least {
    static __device__ real forward(real x, real low, real) { return x < low ? low : x; }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i, real low, real)
    {
        return y[i] <= low ? (real)0 : dy;
    }
};

// at_most: clamped without the bound `low`.
struct at_most {
    static __device__ real forward(real x, real, real high) { return x > high ? high : x; }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i, real, real high)
    {
        return y[i] >= high ? (real)0 : dy;
    }
};
