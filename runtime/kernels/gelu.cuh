// Gaussian error linear units: an element times the probability that a normal
// number is below it.
#pragma once
#include <math.h>
#include "../support/vec/logistic.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// gelu: y = x * erfc(-x / sqrt(2)) / 2.  The gradient needs x.
struct gelu {
    static __device__ real below(real x)
    {
        return (real)0.5 * erfc(x * (real)-0.70710678118654752440);
    }
    static __device__ real forward(real x) { return x * below(x); }
    template <class X>
    static __device__ real gradient(real dy, X x, long long i)
    {
        const real v = x[i], density = (real)0.39894228040143267794 * exp((real)-0.5 * v * v);
        return dy * (below(v) + v * density);
    }
};

// gelu_tanh: y = x * (1 + tanh(u)) / 2, where u = sqrt(2 / pi) * (x + 0.044715 * x^3); half of
// 1 + tanh(u) is the logistic function of 2 * u.  The gradient needs x.
struct gelu_tanh {
    static constexpr real TWICE = (real)1.59576912160573071176, CUBE = (real)0.044715;
    static __device__ real below(real x) { return logistic(TWICE * x * (1 + CUBE * x * x)); }
    static __device__ real forward(real x) { return x * below(x); }
    template <class X>
    static __device__ real gradient(real dy, X x, long long i)
    {
        const real v = x[i], s = below(v), slope = TWICE * (1 + 3 * CUBE * v * v);
        return dy * s * (1 + v * (1 - s) * slope);
    }
};
