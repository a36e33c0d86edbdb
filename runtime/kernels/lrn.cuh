// Local response normalization over neighbouring channels.
#pragma once
#include <math.h>
#include "../support/vec/elementwise.cuh"
#include "../support/vec/real.cuh"

// LrnRow: the `channels` elements of x at a pixel, from element `row` on.
template <class X>
struct LrnRow {
    X x;
    long long row;
    int channels, around;
    __device__ int first(int c) const { return c > around ? c - around : 0; }
    __device__ int last(int c) const { return c + around < channels ? c + around : channels - 1; }
    // The logarithm of k + share * the sum of squares of the channels around c.
    __device__ real log_scale(int c, real share, real k) const
    {
        real sum = 0;
        for (int o = first(c); o <= last(c); o++) {
            const real v = x[row + o];
            sum += v * v;
        }
        return log(k + share * sum);
    }
};

// lrn_forward: y = x / (k + share * the sum of x^2 over the channels around)^beta; [count],
// channels innermost.  y must not be x.
template <class X = const real *, class Y = real *>
__global__ void lrn_forward(Y y, X x, long long count, long long channels, long long around,
                            real share, real beta, real k)
{
    FOR_EACH(i, count) {
        const int c = (int)(i % channels);
        const LrnRow<X> own = {x, i - c, (int)channels, (int)around};
        y[i] = x[i] * exp(-beta * own.log_scale(c, share, k));
    }
}

// lrn_gradient: dx[c] = dy[c] / s[c]^beta - 2 * beta * share * x[c] * the sum over the channels o
// around c of dy[o] * x[o] / s[o]^(beta + 1), s the sum in lrn_forward.  dx must not be dy or x.
template <class DY = const real *, class X = const real *, class DX = real *>
__global__ void lrn_gradient(DX dx, DY dy, X x, long long count, long long channels,
                             long long around, real share, real beta, real k)
{
    FOR_EACH(i, count) {
        const int c = (int)(i % channels);
        const LrnRow<X> own = {x, i - c, (int)channels, (int)around};
        real sum = 0;
        for (int o = own.first(c); o <= own.last(c); o++) {
            const real power = exp((-beta - 1) * own.log_scale(o, share, k));
            sum += dy[own.row + o] * x[own.row + o] * power;
        }
        dx[i] = dy[i] * exp(-beta * own.log_scale(c, share, k)) - 2 * beta * share * x[i] * sum;
    }
}
