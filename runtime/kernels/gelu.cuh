// An element times the probability that a normal number is below it.
#pragma once
#include <math.h>
#include "../support/logistic.cuh"
#include "../support/real.cuh"
#include "../support/unary.cuh"

// gelu: y = x * erfc(-x / sqrt(2)) / 2.  The gradient needs x.
struct gelu {
    static __device__ real below(real x)
    {
        return (real)0.5 * erfc(x * (real)-0.70710678118654752440);
    }
    static __device__ real forward(real x) { return x * below(x); }
    static __device__ real gradient(real dy, const real *x, long long i)
    {
        const real density = (real)0.39894228040143267794 * exp((real)-0.5 * x[i] * x[i]);
        return dy * (below(x[i]) + x[i] * density);
    }
};

// gelu_tanh: y = x * (1 + tanh(u)) / 2, where u = sqrt(2 / pi) * (x + 0.044715 * x^3); half of
// 1 + tanh(u) is the logistic function of 2 * u.  The gradient needs x.
struct gelu_tanh {
    static constexpr real TWICE = (real)1.59576912160573071176, CUBE = (real)0.044715;
    static __device__ real below(real x) { return logistic(TWICE * x * (1 + CUBE * x * x)); }
    static __device__ real forward(real x) { return x * below(x); }
    static __device__ real gradient(real dy, const real *x, long long i)
    {
        const real s = below(x[i]), slope = TWICE * (1 + 3 * CUBE * x[i] * x[i]);
        return dy * s * (1 + x[i] * (1 - s) * slope);
    }
};
