// How often the largest logit is the label's.
#pragma once
#include "../support/real.cuh"
#include "../support/reduce.cuh"

// accuracy_forward: rows[n] = 1 where logits[n,label[n]] is the first of the row's largest, else
// 0; logits [batch, classes], label and rows [batch]; a warp a row.  Wrong are a row with a NaN
// and a label out of range; rows past samples are 0.
__global__ void accuracy_forward(real *rows, const real *logits, const int *label,
                                 long long samples, long long batch, long long classes)
{
    const int lane = threadIdx.x % 32;
    const long long n = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (n >= batch) return;
    const int want = n < samples ? label[n] : -1;
    real right = 0;
    if (want >= 0 && want < classes) {
        const real *row = logits + n * classes;
        real better = 0;
        for (long long o = lane; o < classes; o += 32)
            better += !(o < want ? row[o] < row[want] : row[o] <= row[want]);
        right = warp_sum(better) == 0;
    }
    if (lane == 0) rows[n] = right;
}
