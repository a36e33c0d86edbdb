// Losses and metrics of rows of scores with a label each, in one launch.
#pragma once
#include <math.h>
#include "../vec/elementwise.cuh"
#include "../vec/last_block.cuh"
#include "../vec/load.cuh"
#include "../vec/real.cuh"
#include "../vec/reduce.cuh"

// softmax_sum: the sum of exp(logit - largest) over a row, by a warp in a fixed order; NaN if the
// row has NaN or +infinity.
template <class X>
static __device__ inline real softmax_sum(const X &row, long long classes, real &largest)
{
    real sum = 0;
    largest = -INFINITY;
    for (long long o = threadIdx.x % 32; o < classes; o += 32)
        largest = fmax(largest, (real)row[o]);
    for (int flip = 16; flip > 0; flip /= 2)
        largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, flip));
    for (long long o = threadIdx.x % 32; o < classes; o += 32) sum += exp(row[o] - largest);
    return warp_sum(sum);
}

// ScoreRow: row n of logits and its label, for a warp; largest and sum as softmax_sum sets them.
template <class X>
struct ScoreRow {
    X logits;
    int want;
    long long n, classes, samples;
    real largest, sum;
    __device__ real operator[](long long o) const { return logits[n * classes + o]; }
    __device__ bool counts() const { return n < samples; }
    __device__ bool known() const { return want >= 0 && want < classes; }
};

// score_rows: calls each Score for each row of logits [batch, classes], a warp a row; the last one
// may overwrite the row.  Then Last.
template <class X, class Last, class... Score>
__global__ void score_rows(X logits, const int *label, long long samples, long long batch,
                           long long classes, Last last, Score... score)
{
    FOR_OWN(i, 32 * batch) {
        const long long n = i / 32;
        ScoreRow<X> row = {logits, label[n], n, classes, samples, 0, 0};
        if ((Score::SOFTMAX || ...)) row.sum = softmax_sum(row, classes, row.largest);
        ((score(row), __syncwarp()), ...);
    }
    last();
}
