// The overlap of a map of probabilities and its target.
#pragma once
#include "../support/vec/logistic.cuh"
#include "../support/net/loss_scale.cuh"
#include "../support/net/ratio.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"

// dice_sums: sums[0,s,n] = the sum of 2 * p * t over run s of sample n, sums[1,s,n] that of p + t,
// where p = logistic(logits), t = target, both [BATCH, ITEMS]; 0 past samples.  sums [2, SPLITS,
// BATCH]; a block a run.
template <class Shape, class A = const real *, class B = const real *>
__global__ void dice_sums(real *sums, A logits, B target, long long samples)
{
    const long long n = blockIdx.x / Shape::SPLITS, split = blockIdx.x % Shape::SPLITS;
    const long long end = split + 1 < Shape::SPLITS ? (split + 1) * Shape::RUN : Shape::ITEMS;
    real both = 0, either = 0;
    if (n < samples)
        for (long long i = split * Shape::RUN + threadIdx.x; i < end; i += blockDim.x) {
            const real p = logistic(logits[n * Shape::ITEMS + i]);
            const real t = target[n * Shape::ITEMS + i];
            both += 2 * p * t;
            either += p + t;
        }
    both = block_sum(both);
    either = block_sum(either);
    if (threadIdx.x > 0) return;
    sums[split * Shape::BATCH + n] = both;
    sums[(Shape::SPLITS + split) * Shape::BATCH + n] = either;
}

// dice_gradient: of weight * (1 - a / b) / samples, where a and b are a sample's sums plus smooth:
// dp = (a / b - 2 * t) / b, dlogits = dp * p * (1 - p), dtarget = (a / b - 2 * p) / b; 0 past
// samples.  Either may be left out; shapes and blocks as in dice_sums.  Both may be logits or
// target.  Weight is real, or makes one.
template <class Shape, class Weight, class A = const real *, class B = const real *,
          class DA = real *, class DB = real *>
__global__ void dice_gradient(DA dlogits, DB dtarget, A logits, B target, const real *sums,
                              long long samples, real smooth, Weight weight)
{
    const long long n = blockIdx.x / Shape::SPLITS, split = blockIdx.x % Shape::SPLITS;
    const long long end = split + 1 < Shape::SPLITS ? (split + 1) * Shape::RUN : Shape::ITEMS;
    real a = smooth, b = smooth;
    for (long long s = 0; s < Shape::SPLITS; s++) {
        a += sums[s * Shape::BATCH + n];
        b += sums[(Shape::SPLITS + s) * Shape::BATCH + n];
    }
    const real quotient = b == 0 ? (real)0 : a / b;
    const real scale = b == 0 ? (real)0 : weight / (b * (real)samples);
    for (long long i = split * Shape::RUN + threadIdx.x; i < end; i += blockDim.x) {
        const long long at = n * Shape::ITEMS + i;
        const real p = logistic(logits[at]), t = target[at];
        const real change = scale * (quotient - 2 * t) * p * (1 - p);
        if (dlogits) dlogits[at] = n < samples ? change : (real)0;
        if (dtarget) dtarget[at] = n < samples ? scale * (quotient - 2 * p) : (real)0;
    }
}
