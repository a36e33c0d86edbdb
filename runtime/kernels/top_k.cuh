// How often the label is among the k largest scores.
#pragma once
#include "../support/vec/load.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"
#include "../support/net/score_rows.cuh"

// is_among_top: true if fewer than k of logits[n] come before that of label[n]: are larger, or
// equal and earlier, or a NaN.  False where no such class is met, and past samples.  By a warp.
template <class Row>
static __device__ inline bool is_among_top(const Row &row, long long k)
{
    const bool known = row.counts() && row.known();
    long long before = 0;
    for (long long o = threadIdx.x % 32; o < row.classes && known; o += 32)
        before += !(o < row.want ? row[o] < row[row.want] : row[o] <= row[row.want]);
    before = warp_sum(before);
    return known && before < k;
}

// TopK: rows[n] = 1 where label[n] is among the top k, else 0.
struct TopK {
    static constexpr bool SOFTMAX = false;
    real *rows;
    long long k;
    template <class Row>
    __device__ void operator()(const Row &row) const
    {
        const bool found = is_among_top(row, k);
        if (threadIdx.x % 32 == 0) rows[row.n] = (real)found;
    }
};

// TopKCounted: rows[n] = {the same, 1}, or {0, 0} where label[n] is the ignored class and past
// samples.
struct TopKCounted {
    static constexpr bool SOFTMAX = false;
    real *rows;
    long long k, ignore;
    template <class Row>
    __device__ void operator()(const Row &row) const
    {
        const bool found = is_among_top(row, k), counts = row.counts() && row.want != ignore;
        if (threadIdx.x % 32 > 0) return;
        rows[2 * row.n] = (real)(found && counts);
        rows[2 * row.n + 1] = (real)counts;
    }
};
