// Means over labels that are weighted by their classes: sums of each sample to rows.
#pragma once
#include "../vec/last_block.cuh"
#include "../vec/list.cuh"
#include "../vec/real.cuh"
#include "../vec/reduce.cuh"

// class_weight: the weight of class o; a single number is the weight of all classes.
template <int COUNT>
static __device__ inline real class_weight(const List<COUNT> &weights, int o)
{
    return weights.at[COUNT == 1 ? 0 : o];
}

// label_mean_rows: total = the sum of sums[1].  Sample n has a = weight * the sum of sums[0,:,n]
// and b = the sum of sums[1,:,n]: rows[n] = a / b, or with PAIRS rows[n] = {a, b}; 0 past samples.
// One block; sums [2, splits, batch].  total may be null.
template <bool PAIRS, class... Last>
__global__ void label_mean_rows(real *rows, real *total, const real *sums, long long samples,
                                long long batch, long long splits, real weight, Last... last)
{
    real all = 0;
    for (long long i = threadIdx.x; i < splits * batch; i += blockDim.x)
        all += sums[splits * batch + i];
    all = block_sum(all);
    for (long long n = threadIdx.x; n < batch; n += blockDim.x) {
        real a = 0, b = 0;
        for (long long s = 0; s < splits; s++) {
            a += sums[s * batch + n];
            b += sums[(splits + s) * batch + n];
        }
        if constexpr (PAIRS) {
            rows[2 * n] = weight * a;
            rows[2 * n + 1] = b;
        } else {
            rows[n] = n < samples ? weight * a / b : (real)0;
        }
    }
    if (threadIdx.x == 0 && total) total[0] = all;
    (last(), ...);
}
