// How often the largest logit is the label's.
#pragma once
#include "../support/vec/load.cuh"
#include "../support/net/ratio.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"
#include "../support/net/score_rows.cuh"

// Accuracy: rows[n] = 1 if logits[n,label[n]] is the first of the row's largest.  Otherwise 0, also
// for a NaN, an unknown class, and past samples.
struct Accuracy {
    static constexpr bool SOFTMAX = false;
    real *rows;
    template <class Row>
    __device__ void operator()(const Row &row) const
    {
        bool wrong = !row.counts() || !row.known();
        for (long long o = threadIdx.x % 32; o < row.classes && !wrong; o += 32)
            wrong = !(o < row.want ? row[o] < row[row.want]
                                   : row[o] <= row[row.want]);
        wrong = __any_sync(0xffffffffu, wrong);
        if (threadIdx.x % 32 == 0) rows[row.n] = !wrong;
    }
};

// accuracy_sums: sums[0,s,n] = the number of pixels of run s of sample n that are right, as above;
// sums[1,s,n] = the number of all its pixels except those labelled IGNORE; 0 past samples.  logits
// [BATCH, ITEMS, CLASSES], sums [2, SPLITS, BATCH]; a block a run, LANES threads a pixel.
template <class Shape, class X = const real *>
__global__ void accuracy_sums(real *sums, X logits, const int *label, long long samples)
{
    constexpr int lanes = (int)Shape::LANES, classes = (int)Shape::CLASSES;
    const long long n = blockIdx.x / Shape::SPLITS, split = blockIdx.x % Shape::SPLITS;
    const long long end = split + 1 < Shape::SPLITS ? (split + 1) * Shape::RUN : Shape::ITEMS;
    int right = 0, count = 0;
    for (long long at = split * Shape::RUN; at < end && n < samples; at += blockDim.x / lanes) {
        const long long i = at + threadIdx.x / lanes, pixel = n * Shape::ITEMS + i;
        const int want = i < end ? label[pixel] : -1;
        const bool counts = i < end && want != Shape::IGNORE;
        const RowOf<X> row = {logits, pixel * classes};
        bool wrong = !counts || want < 0 || want >= classes;
        for (int o = threadIdx.x % lanes; o < classes && !wrong; o += lanes)
            wrong = !(o < want ? row[o] < row[want] : row[o] <= row[want]);
        const int faults = group_reduce<lanes>((int)wrong, [](int a, int b) { return a + b; });
        right += threadIdx.x % lanes == 0 && faults == 0;
        count += threadIdx.x % lanes == 0 && counts;
    }
    right = block_sum(right);
    count = block_sum(count);
    if (threadIdx.x > 0) return;
    sums[split * Shape::BATCH + n] = (real)right;
    sums[(Shape::SPLITS + split) * Shape::BATCH + n] = (real)count;
}
