// The loss of classification, -log softmax(logits)[label], and its gradient.
#pragma once
#include <math.h>
#include "../support/real.cuh"
#include "../support/reduce.cuh"

// SoftmaxRow: the largest of a row of logits, and the sum of exp(logit - largest).
struct SoftmaxRow {
    real largest, sum;
};

// softmax_row: of a row [classes], by a warp; every lane gets the result.  The order is fixed.
// A NaN or +infinity in the row makes the sum a NaN.
static __device__ inline SoftmaxRow softmax_row(const real *row, long long classes)
{
    const int lane = threadIdx.x % 32;
    real largest = row[0];
    for (long long o = lane; o < classes; o += 32) largest = fmax(largest, row[o]);
    largest = warp_max(largest);
    real sum = 0;
    for (long long o = lane; o < classes; o += 32) sum += exp(row[o] - largest);
    return {largest, warp_sum(sum)};
}

// softmax_cross_entropy_forward: rows[n] = log(sum over o of exp(logits[n,o])) -
// logits[n,label[n]]; logits [batch, classes], label and rows [batch]; a warp a row.  Rows past
// samples are 0; a label out of range makes its row NaN, so the training step is skipped.
__global__ void softmax_cross_entropy_forward(real *rows, const real *logits, const int *label,
                                              long long samples, long long batch, long long classes)
{
    const long long n = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (n >= batch) return;
    real loss = 0;
    if (n < samples) {
        const real *row = logits + n * classes;
        const SoftmaxRow softmax = softmax_row(row, classes);
        const int want = label[n];
        loss = want >= 0 && want < classes ? log(softmax.sum) - (row[want] - softmax.largest)
                                           : (real)NAN;
    }
    if (threadIdx.x % 32 == 0) rows[n] = loss;
}

// softmax_cross_entropy_gradient: dlogits[n,o] = (softmax(logits[n])[o] - (o == label[n])) /
// samples, and 0 in rows past samples; shapes as in the forward launch; a warp a row.  dlogits may
// be logits: a warp has read its whole row before it writes.
__global__ void softmax_cross_entropy_gradient(real *dlogits, const real *logits, const int *label,
                                               long long samples, long long batch,
                                               long long classes)
{
    const int lane = threadIdx.x % 32;
    const long long n = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (n >= batch) return;
    const real *row = logits + n * classes;
    real *d = dlogits + n * classes;
    if (n >= samples) {
        for (long long o = lane; o < classes; o += 32) d[o] = 0;
        return;
    }
    const SoftmaxRow softmax = softmax_row(row, classes);
    const int want = label[n];
    for (long long o = lane; o < classes; o += 32) {
        const real probability = exp(row[o] - softmax.largest) / softmax.sum;
        d[o] = (probability - (real)(o == want)) / (real)samples;
    }
}
