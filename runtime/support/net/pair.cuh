// Means over samples of a function of two elements, and its gradient.  The struct Rule has the
// function, value(a, b, setting...), and its derivatives slope_a and slope_b.
#pragma once
#include "../vec/elementwise.cuh"
#include "../vec/last_block.cuh"
#include "loss_scale.cuh"
#include "../vec/real.cuh"
#include "../vec/reduce.cuh"

// pair_rows: rows[s,n] = factor * the sum of value(a, b) over run s of sample n, 0 past samples; a,
// b [BATCH, ITEMS], rows [SPLITS, BATCH].  A block sums a run of RUN elements.  Then Last.
template <class Shape, class Rule, class Last, class A = const real *, class B = const real *,
          class... Setting>
__global__ void pair_rows(Last last, real *rows, A a, B b, long long samples, real factor,
                          Setting... setting)
{
    const long long n = blockIdx.x / Shape::SPLITS, split = blockIdx.x % Shape::SPLITS;
    const long long end = split + 1 < Shape::SPLITS ? (split + 1) * Shape::RUN : Shape::ITEMS;
    real sum = 0;
    if (n < samples)
        for (long long i = split * Shape::RUN + threadIdx.x; i < end; i += blockDim.x)
            sum += Rule::value(a[n * Shape::ITEMS + i], b[n * Shape::ITEMS + i], setting...);
    sum = block_sum(sum);
    if (threadIdx.x == 0) rows[split * Shape::BATCH + n] = factor * sum;
    last();
}

// pair_slopes: da = factor / samples * slope_a(a, b), and db likewise; either may be null.  Samples
// have width elements; gradients past samples are 0.  All [count].  da and db may be a or b. Weight
// is real, or converts to it.
template <class Rule, class Weight, class A = const real *, class B = const real *,
          class DA = real *, class DB = real *, class... Setting>
__global__ void pair_slopes(DA da, DB db, A a, B b, long long samples, long long count,
                            long long width, Weight factor, Setting... setting)
{
    const real scale = factor / (real)samples;
    FOR_EACH(i, count) {
        const real x = a[i], y = b[i];
        const bool counts = i < samples * width;
        if (da) da[i] = counts ? scale * Rule::slope_a(x, y, setting...) : (real)0;
        if (db) db[i] = counts ? scale * Rule::slope_b(x, y, setting...) : (real)0;
    }
}
