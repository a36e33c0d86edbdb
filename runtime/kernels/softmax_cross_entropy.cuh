// The loss of classification, -log softmax(logits)[label], and its gradient.
#pragma once
#include <math.h>
#include "../support/elementwise.cuh"
#include "../support/real.cuh"
#include "../support/reduce.cuh"

// softmax_sum: the sum over a row [classes] of exp(logit - largest), by a warp in a fixed order; a
// NaN or +infinity in the row makes it a NaN.
static __device__ inline real softmax_sum(const real *row, long long classes, real &largest)
{
    real sum = 0;
    largest = row[0];
    for (long long o = threadIdx.x % 32; o < classes; o += 32) largest = fmax(largest, row[o]);
    largest = warp_reduce(largest, [](real a, real b) { return fmax(a, b); });
    for (long long o = threadIdx.x % 32; o < classes; o += 32) sum += exp(row[o] - largest);
    return warp_reduce(sum, [](real a, real b) { return a + b; });
}

// softmax_cross_entropy_forward: rows[n] = -log(softmax(logits[n])[label[n]]), a warp a row; logits
// [batch, classes].  0 past samples; a label out of range makes a NaN, and the step is skipped.
__global__ void softmax_cross_entropy_forward(real *rows, const real *logits, const int *label,
                                              long long samples, long long batch, long long classes)
{
    FOR_EACH(i, 32 * batch) {
        const long long n = i / 32;
        const real *row = logits + n * classes;
        real largest, sum = softmax_sum(row, classes, largest);
        const bool known = label[n] >= 0 && label[n] < classes;
        const real loss = known ? log(sum) - (row[label[n]] - largest) : (real)NAN;
        rows[n] = n < samples ? loss : (real)0;
    }
}

// softmax_cross_entropy_gradient: dlogits[n,o] = (softmax(logits[n])[o] - (o == label[n])) /
// samples, 0 past samples, a warp a row.  dlogits may be logits: rows are read, then written.
__global__ void softmax_cross_entropy_gradient(real *dlogits, const real *logits, const int *label,
                                               long long samples, long long batch,
                                               long long classes)
{
    FOR_EACH(i, 32 * batch) {
        const long long n = i / 32, row = n * classes;
        real largest, sum = softmax_sum(logits + row, classes, largest);
        for (long long o = i % 32; o < classes; o += 32) {
            const real change = exp(logits[row + o] - largest) / sum - (real)(o == label[n]);
            dlogits[row + o] = n < samples ? change / (real)samples : (real)0;
        }
    }
}
