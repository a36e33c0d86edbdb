// Rectified linear units: y = max(x, 0).
#pragma once
#include "../support/elementwise.cuh"
#include "../support/real.cuh"

// relu: y = x < 0 ? 0 : x, so a NaN stays one.  The gradient needs y alone and is 0 at y = 0.
struct relu {
    static __device__ real forward(real x) { return x < 0 ? 0 : x; }
    static __device__ real gradient(real dy, const real *y, long long i)
    {
        return y[i] <= 0 ? 0 : dy;
    }
};

// relu_forward: y[i] = relu(x[i]), both [count]; a thread takes single elements.  y may be x.
__global__ void relu_forward(real *y, const real *x, long long count)
{
    FOR_EACH(i, count) y[i] = relu::forward(x[i]);
}

// relu_gradient: dx[i] = y[i] <= 0 ? 0 : dy[i], all [count].  dx may be dy or y.
__global__ void relu_gradient(real *dx, const real *dy, const real *y, long long count)
{
    FOR_EACH(i, count) dx[i] = relu::gradient(dy[i], y, i);
}
