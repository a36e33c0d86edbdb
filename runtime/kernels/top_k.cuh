// How often the label is among the k largest scores.
#pragma once
#include "../support/elementwise.cuh"
#include "../support/load.cuh"
#include "../support/real.cuh"
#include "../support/reduce.cuh"

// top_k_forward: rows[n] = 1 where fewer than k of logits[n] come before that of label[n]: are
// larger, or equal and earlier, or a NaN; else 0, as where no such class is met, and past samples.
// A warp a row; logits [batch, classes].
template <class X = const real *>
__global__ void top_k_forward(real *rows, X logits, const int *label, long long samples,
                              long long batch, long long classes, long long k)
{
    FOR_EACH(i, 32 * batch) {
        const long long n = i / 32;
        const RowOf<X> row = {logits, n * classes};
        const int want = label[n];
        const bool known = n < samples && want >= 0 && want < classes;
        long long before = 0;
        for (long long o = i % 32; o < classes && known; o += 32)
            before += !(o < want ? row[o] < row[want] : row[o] <= row[want]);
        before = warp_reduce(before, [](long long a, long long b) { return a + b; });
        if (i % 32 == 0) rows[n] = (real)(known && before < k);
    }
}
