// Magnitude pruning: new masks of weights.
#pragma once
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include "../support/net/accumulated.cuh"
#include "../support/net/header.cuh"
#include "../support/net/pruning.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/tensor_list.cuh"

// PruneSchedule: when masks are made, and for which sparsity.  ahead 1: of the next step; 0: of
// step 0.
struct PruneSchedule {
    PruneSteps steps;
    float final, change, power;
    int ahead;
    __device__ bool is_due(long long step) const
    {
        return ahead ? steps.include(step) : step == 0;
    }
    // The weights of `count` that are kept, as many as TensorFlow's arithmetic in float gives.
    __device__ unsigned kept(long long step, long long count) const
    {
        const float since = (float)(step - steps.begin) / (float)(steps.end - steps.begin);
        const float p = fmin(fmax(since, 0.0f), 1.0f);
        const float sparsity = change * (float)pow((double)(1 - p), (double)power) + final;
        const float kept = rint((float)count * (1 - sparsity));
        return (unsigned)(kept < (float)count ? (kept > 1 ? (long long)kept : 1) : count);
    }
};

// PrunedArrays: a parameter [count], a bit for each weight in bytes, and the average [count], which
// may be null.
struct PrunedArrays {
    real *weight;
    uint8_t *pruned;
    real *average;
    long long count;
};

// magnitude: the bits of a number without its sign.  Their order is that of the absolute values.
template <class T>
static __device__ inline auto magnitude(T x)
{
    if constexpr (sizeof(T) == 4) return __float_as_uint(x) & 0x7fffffffu;
    else return (uint64_t)__double_as_longlong(x) & 0x7fffffffffffffffull;
}

// DigitSearch: counts of the digits of magnitudes, and where the search goes on.
struct DigitSearch {
    unsigned counts[2048];
    unsigned digit, rank;
};

// find_digit: the largest digit such that at least `rank` counts are of it and of larger ones; the
// new rank is among those of that digit.  By a warp, whose lane l has 64 digits from 2047 - 64 l
// down.
static __device__ inline void find_digit(DigitSearch &s, unsigned rank)
{
    const int lane = (int)threadIdx.x;
    unsigned own = 0;
    for (int k = 0; k < 64; k++) own += s.counts[2047 - 64 * lane - k];
    unsigned before = own;
    for (int far = 1; far < 32; far *= 2) {
        const unsigned more = __shfl_up_sync(0xffffffffu, before, far);
        if (lane >= far) before += more;
    }
    before -= own;
    if (rank <= before || rank > before + own) return;
    unsigned digit = 2047 - 64 * (unsigned)lane;
    while (before + s.counts[digit] < rank) before += s.counts[digit--];
    s.digit = digit;
    s.rank = rank - before;
}

// nth_magnitude: of w [count], the magnitude that `rank` - 1 others are not below: a radix search
// over digits of 11 bits.  Counts are integers, so no order of their sums matters.  By a block.
static __device__ inline auto nth_magnitude(const real *w, long long count, unsigned rank)
{
    __shared__ DigitSearch s;
    decltype(magnitude(*w)) found = 0;
    for (int top = 8 * (int)sizeof(real) - 1; top > 0;) {
        const int width = top < 11 ? top : 11, low = top - width;
        __syncthreads();
        for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x) s.counts[i] = 0;
        __syncthreads();
        for (long long i = threadIdx.x; i < count; i += blockDim.x) {
            const auto m = magnitude(w[i]);
            if (m >> top == found) atomicAdd(&s.counts[m >> low & ((1u << width) - 1)], 1u);
        }
        __syncthreads();
        if (threadIdx.x < 32) find_digit(s, rank);
        __syncthreads();
        found = found << width | s.digit;
        rank = s.rank;
        top = low;
    }
    return found;
}

// prune_weights: if a mask is due, of each array it finds the smallest magnitude that is kept.
// Smaller weights become 0, as do their averages, and their bits are set.  An array has a block of
// the largest size, so nvcc must limit its registers.  Without samples it does nothing; `sums` says
// that the header counts them.  A skipped step makes a mask like any other.
template <bool sums, int N, class... Last>
__global__ void __launch_bounds__(1024)
prune_weights(const __grid_constant__ TensorList<PrunedArrays, N> arrays,
              const StateHeader *header, const PruneSchedule schedule, long long samples,
              Last... last)
{
    const long long step = (long long)header->step + schedule.ahead;
    if (schedule.is_due(step) && (sums ? samples_before(header) > 0 : samples > 0)) {
        const PrunedArrays of = arrays.item[arrays.own()];
        const auto least = nth_magnitude(of.weight, of.count, schedule.kept(step, of.count));
        for (long long byte = threadIdx.x; 8 * byte < of.count; byte += blockDim.x) {
            unsigned bits = 0;
            for (int j = 0; j < 8 && 8 * byte + j < of.count; j++) {
                const long long i = 8 * byte + j;
                if (magnitude(of.weight[i]) >= least) continue;
                bits |= 1u << j;
                of.weight[i] = 0;
                if (of.average) of.average[i] = 0;
            }
            of.pruned[byte] = (uint8_t)bits;
        }
    }
    (last(), ...);
}
