// The loss of logarithms of probabilities, -scores[label], and its gradient.
#pragma once
#include <math.h>
#include "../support/vec/elementwise.cuh"
#include "../support/vec/list.cuh"
#include "../support/net/label_mean.cuh"
#include "../support/net/loss_scale.cuh"
#include "../support/vec/load.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"

// nll_sums: sums[0,s,n], over run s of the labels i of sample n, of -scores[i,y] * w[y], y =
// label[i], and sums[1,s,n] of w[y].  Labels IGNORE don't count, samples past the last are 0; an
// unknown label makes a NaN.  scores [BATCH, ITEMS, CLASSES], sums [2, SPLITS, BATCH]; a block a
// run.
template <class Shape, int COUNT, class X = const real *>
__global__ void nll_sums(real *sums, X scores, const int *label, long long samples,
                         List<COUNT> weights)
{
    const long long n = blockIdx.x / Shape::SPLITS, split = blockIdx.x % Shape::SPLITS;
    const long long end = split + 1 < Shape::SPLITS ? (split + 1) * Shape::RUN : Shape::ITEMS;
    real loss = 0, weight = 0;
    for (long long at = split * Shape::RUN + threadIdx.x; at < end && n < samples;
         at += blockDim.x) {
        const long long i = n * Shape::ITEMS + at;
        const int want = label[i];
        if (want == Shape::IGNORE) continue;
        if (want < 0 || want >= Shape::CLASSES) {
            weight = (real)NAN;
            continue;
        }
        const real w = class_weight(weights, want);
        loss -= w * scores[i * Shape::CLASSES + want];
        weight += w;
    }
    loss = block_sum(loss);
    weight = block_sum(weight);
    if (threadIdx.x > 0) return;
    sums[split * Shape::BATCH + n] = loss;
    sums[(Shape::SPLITS + split) * Shape::BATCH + n] = weight;
}

// nll_gradient: dscores[i,o] = -weight / total * w[o] where o = label[i] and sample i counts, else
// 0, also where nothing counts; a thread an element.  Weight is real, or makes one.
template <class Shape, class Weight, int COUNT, class DX = real *>
__global__ void nll_gradient(DX dscores, const int *label, const real *total, long long samples,
                             List<COUNT> weights, Weight weight)
{
    const real scale = total[0] == 0 ? (real)0 : weight / total[0];
    FOR_EACH(e, Shape::BATCH * Shape::ITEMS * Shape::CLASSES) {
        const long long i = e / Shape::CLASSES;
        const int o = (int)(e % Shape::CLASSES);
        const bool counts = label[i] == o && o != Shape::IGNORE && i < samples * Shape::ITEMS;
        dscores[e] = counts ? -scale * class_weight(weights, o) : (real)0;
    }
}
