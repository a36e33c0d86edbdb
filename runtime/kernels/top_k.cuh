// How often the label is among the k largest scores.
#pragma once
#include "../support/load.cuh"
#include "../support/real.cuh"
#include "../support/reduce.cuh"
#include "../support/score_rows.cuh"

// TopK: rows[n] = 1 where fewer than k of logits[n] come before that of label[n]: are larger, or
// equal and earlier, or a NaN; else 0, as where no such class is met, and past samples.
struct TopK {
    static constexpr bool SOFTMAX = false;
    real *rows;
    long long k;
    template <class Row>
    __device__ void operator()(const Row &row) const
    {
        const bool known = row.counts() && row.known();
        long long before = 0;
        for (long long o = threadIdx.x % 32; o < row.classes && known; o += 32)
            before += !(o < row.want ? row.logits[o] < row.logits[row.want]
                                     : row.logits[o] <= row.logits[row.want]);
        before = warp_reduce(before, [](long long a, long long b) { return a + b; });
        if (threadIdx.x % 32 == 0) rows[row.n] = (real)(known && before < k);
    }
};
