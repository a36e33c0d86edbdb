// Scaled exponential linear units.
#pragma once
#include <math.h>
#include "../support/vec/real.cuh"
#include "../support/vec/unary.cuh"

// selu: y = S * x where x > 0, otherwise S * A * (exp(x) - 1).  The gradient needs y alone.
struct selu {
    static constexpr real S = (real)1.0507009873554804934, SA = (real)1.7580993408473768600;
    static __device__ real forward(real x) { return x > 0 ? S * x : SA * expm1(x); }
    template <class Y>
    static __device__ real gradient(real dy, Y y, long long i)
    {
        return y[i] > 0 ? S * dy : dy * (y[i] + SA);
    }
};
