// The cross entropy of yes-or-no answers, less of it where they are easy.
#pragma once
#include <math.h>
#include "../support/vec/logistic.cuh"
#include "../support/net/pair.cuh"
#include "../support/vec/real.cuh"
#include "sum_splits.cuh"

// focal: alpha_t * q^gamma * e; e is the binary cross entropy, and q = p * (1 - t) + (1 - p) * t
// the chance of the other answer, p = logistic(x).  alpha_t = alpha * t + (1 - alpha) * (1 - t),
// or 1 where alpha < 0.  The power is that of |q|.
struct focal {
    real p, no, q, power, entropy, weight;  // no: 1 - p; weight: alpha_t
    __device__ focal(real x, real t, real alpha, real gamma)
        : p(logistic(x)), no(logistic(-x)), q(p * (1 - t) + no * t),
          power(gamma == 0 ? (real)1 : exp(gamma * log(fabs(q)))),
          entropy(fmax(x, (real)0) - x * t + log1p(exp(-fabs(x))) + 0 * x),
          weight(alpha < 0 ? (real)1 : alpha * t + (1 - alpha) * (1 - t))
    {
    }
    static __device__ real value(real x, real t, real alpha, real gamma)
    {
        const focal f(x, t, alpha, gamma);
        return f.weight * f.power * f.entropy;
    }
    static __device__ real slope_a(real x, real t, real alpha, real gamma)
    {
        const focal f(x, t, alpha, gamma);
        const real steep = f.q == 0 ? (real)0 : (1 - 2 * t) * f.p * f.no / f.q;
        return f.weight * f.power * (f.p * (1 - t) - f.no * t + gamma * f.entropy * steep);
    }
    static __device__ real slope_b(real x, real t, real alpha, real gamma)
    {
        const focal f(x, t, alpha, gamma);
        const real steep = f.q == 0 ? (real)0 : (f.no - f.p) / f.q;
        const real change = alpha < 0 ? (real)0 : 2 * alpha - 1;
        return f.power * (change * f.entropy + f.weight * (gamma * f.entropy * steep - x));
    }
};
