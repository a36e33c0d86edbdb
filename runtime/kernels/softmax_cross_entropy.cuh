// The loss of classification, -log softmax(logits)[label], and its gradient.
#pragma once
#include <math.h>
#include "../support/vec/elementwise.cuh"
#include "../support/vec/list.cuh"
#include "../support/vec/load.cuh"
#include "../support/net/label_mean.cuh"
#include "../support/net/loss_scale.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/reduce.cuh"
#include "../support/net/score_rows.cuh"

// CrossEntropy: rows[n] = -log(softmax(logits[n])[label[n]]); 0 past samples; NaN, which skips the
// step, for a label out of range.
struct CrossEntropy {
    static constexpr bool SOFTMAX = true;
    real *rows;
    template <class Row>
    __device__ void operator()(const Row &row) const
    {
        if (threadIdx.x % 32 > 0) return;
        const real loss =
            row.known() ? log(row.sum) - (row[row.want] - row.largest) : (real)NAN;
        rows[row.n] = row.counts() ? loss : (real)0;
    }
};

// CrossEntropyGrad: dlogits[n,o] = weight * (softmax(logits[n])[o] - (o == label[n])) / samples,
// 0 past samples.  dlogits may be logits.
template <class DX, class Weight>
struct CrossEntropyGrad {
    static constexpr bool SOFTMAX = true;
    DX dlogits;
    Weight weight;
    template <class Row>
    __device__ void operator()(const Row &row) const
    {
        const real divisor = (real)row.samples / weight;
        for (long long o = threadIdx.x % 32; o < row.classes; o += 32) {
            const real change = exp(row[o] - row.largest) / row.sum - (real)(o == row.want);
            dlogits[row.n * row.classes + o] = row.counts() ? change / divisor : (real)0;
        }
    }
};

// PixelSoftmax: a row of CLASSES logits in the hands of LANES threads: its largest, and the sum of
// exp(logit - largest), in a fixed order.  Rows that are not `inside` are not read.
template <class Shape, class X>
struct PixelSoftmax {
    static constexpr int LANES = (int)Shape::LANES;
    const RowOf<X> row;
    bool inside;
    int lane = threadIdx.x % LANES;
    real largest = -INFINITY, sum = 0;
    __device__ PixelSoftmax(X logits, long long i, bool inside)
        : row{logits, i * Shape::CLASSES}, inside(inside)
    {
        for (int o = first(); o < Shape::CLASSES; o += LANES)
            largest = fmax(largest, row[o]);
        largest = group_reduce<LANES>(largest, [](real a, real b) { return fmax(a, b); });
        for (int o = first(); o < Shape::CLASSES; o += LANES) sum += exp(row[o] - largest);
        sum = group_sum(sum);
    }
    __device__ int first() const { return inside ? lane : (int)Shape::CLASSES; }
    // The sum over the threads of the row.
    static __device__ real group_sum(real part)
    {
        return group_reduce<LANES>(part, [](real a, real b) { return a + b; });
    }
};

// ClassPixel: the same with a label.
template <class Shape, class X>
struct ClassPixel : PixelSoftmax<Shape, X> {
    int want = -1;
    __device__ ClassPixel(X logits, const int *label, long long i, bool inside)
        : PixelSoftmax<Shape, X>(logits, i, inside)
    {
        if (inside) want = label[i];
    }
    __device__ bool counts() const { return this->inside && want != Shape::IGNORE; }
    __device__ bool known() const { return want >= 0 && want < Shape::CLASSES; }
};

// cross_entropy_sums: sums[0,s,n], over run s of the pixels i of sample n, of -log(p[y]) * w[y] *
// hot and of -log(p[o]) * w[o] * spread over all o, where p = softmax(logits[i]) and y = label[i];
// and sums[1,s,n] of w[y].  Pixels with y == IGNORE don't count, samples past the last are 0; an
// unknown label makes a NaN.  logits [BATCH, ITEMS, CLASSES], sums [2, SPLITS, BATCH]; a block a
// run, LANES threads a pixel.
template <class Shape, int COUNT, class X = const real *>
__global__ void cross_entropy_sums(real *sums, X logits, const int *label, long long samples,
                                   List<COUNT> weights, real hot, real spread)
{
    constexpr int lanes = (int)Shape::LANES;
    const long long n = blockIdx.x / Shape::SPLITS, split = blockIdx.x % Shape::SPLITS;
    const long long end = split + 1 < Shape::SPLITS ? (split + 1) * Shape::RUN : Shape::ITEMS;
    real loss = 0, weight = 0;
    for (long long at = split * Shape::RUN; at < end && n < samples; at += blockDim.x / lanes) {
        const long long i = at + threadIdx.x / lanes;
        const ClassPixel<Shape, X> pixel(logits, label, n * Shape::ITEMS + i, i < end);
        const real top = pixel.largest, tail = log(pixel.sum);
        const bool first = pixel.lane == 0 && pixel.counts();
        if (first && !pixel.known()) weight = (real)NAN;
        if (first && pixel.known()) {
            const real w = class_weight(weights, pixel.want);
            loss += hot * w * (tail - (pixel.row[pixel.want] - top));
            weight += w;
        }
        if (Shape::SMOOTH && pixel.counts())
            for (int o = pixel.lane; o < Shape::CLASSES; o += lanes)
                loss += spread * class_weight(weights, o) * (tail - (pixel.row[o] - top));
    }
    loss = block_sum(loss);
    weight = block_sum(weight);
    if (threadIdx.x > 0) return;
    sums[split * Shape::BATCH + n] = loss;
    sums[(Shape::SPLITS + split) * Shape::BATCH + n] = weight;
}

// soft_cross_entropy_sums: sums[0,s,n], over run s of the pixels i of sample n, of -log(p[o]) *
// w[o] * (hot * target[i,o] + spread) over all o, where p = softmax(logits[i]); and sums[1,s,n] the
// number of these pixels; samples past the last are 0.  logits and target [BATCH, ITEMS, CLASSES],
// sums [2, SPLITS, BATCH]; a block a run, LANES threads a pixel.
template <class Shape, int COUNT, class X = const real *, class T = const real *>
__global__ void soft_cross_entropy_sums(real *sums, X logits, T target, long long samples,
                                        List<COUNT> weights, real hot, real spread)
{
    constexpr int lanes = (int)Shape::LANES;
    const long long n = blockIdx.x / Shape::SPLITS, split = blockIdx.x % Shape::SPLITS;
    const long long end = split + 1 < Shape::SPLITS ? (split + 1) * Shape::RUN : Shape::ITEMS;
    real loss = 0, weight = 0;
    for (long long at = split * Shape::RUN; at < end && n < samples; at += blockDim.x / lanes) {
        const long long i = n * Shape::ITEMS + at + threadIdx.x / lanes;
        const PixelSoftmax<Shape, X> pixel(logits, i, at + threadIdx.x / lanes < end);
        const real top = pixel.largest, tail = log(pixel.sum);
        for (int o = pixel.first(); o < Shape::CLASSES; o += lanes) {
            const real share = hot * target[i * Shape::CLASSES + o] + spread;
            loss += share * class_weight(weights, o) * (tail - (pixel.row[o] - top));
        }
        weight += (real)(pixel.lane == 0 && pixel.inside);
    }
    loss = block_sum(loss);
    weight = block_sum(weight);
    if (threadIdx.x > 0) return;
    sums[split * Shape::BATCH + n] = loss;
    sums[(Shape::SPLITS + split) * Shape::BATCH + n] = weight;
}

// cross_entropy_gradient: dlogits[i,o] = weight / total * (p[o] * (the sum of t) - t[o]), where
// t[o] = w[o] * (hot * (o == label[i]) + spread), 0 where pixel i or nothing counts; otherwise as
// cross_entropy_sums.  spread_sum is that of spread * w.  LANES threads a pixel.  dlogits may be
// logits: a row is read, then written.  Weight is real, or makes one.
template <class Shape, class Weight, int COUNT, class X = const real *, class DX = real *>
__global__ void cross_entropy_gradient(DX dlogits, X logits, const int *label,
                                       const real *total, long long samples, List<COUNT> weights,
                                       real hot, real spread, real spread_sum, Weight weight)
{
    constexpr int lanes = (int)Shape::LANES;
    const long long pixels = Shape::BATCH * Shape::ITEMS;
    const long long step = (long long)gridDim.x * blockDim.x / lanes;
    const real scale = total[0] == 0 ? (real)0 : weight / total[0];
    for (long long at = (long long)blockIdx.x * blockDim.x / lanes; at < pixels; at += step) {
        const long long i = at + threadIdx.x / lanes;
        const ClassPixel<Shape, X> pixel(logits, label, i, i < pixels);
        const bool counts = pixel.counts() && pixel.known() && i < samples * Shape::ITEMS;
        const real w = counts ? hot * class_weight(weights, pixel.want) : (real)0;
        const real mass = (w + spread_sum) / pixel.sum;
        for (int o = pixel.first(); o < Shape::CLASSES; o += lanes) {
            const real smooth = Shape::SMOOTH ? spread * class_weight(weights, o) : (real)0;
            const real share = mass * exp(pixel.row[o] - pixel.largest);
            const real change = share - smooth - (o == pixel.want ? w : (real)0);
            dlogits[i * Shape::CLASSES + o] = counts ? scale * change : (real)0;
        }
    }
}

// soft_cross_entropy_gradient: dlogits[i,o] = weight / total * (p[o] * (the sum of t) - t[o]), t[o]
// = w[o] * (hot * target[i,o] + spread), and dtarget[i,o] = weight / total * hot * w[o] *
// -log(p[o]).  Both are 0 past samples; either may be null, or be logits or target: a row is read,
// then written.  Otherwise as soft_cross_entropy_sums, LANES threads a pixel.
template <class Shape, class Weight, int COUNT, class X = const real *, class T = const real *,
          class DX = real *, class DT = real *>
__global__ void soft_cross_entropy_gradient(DX dlogits, DT dtarget, X logits, T target,
                                            const real *total, long long samples,
                                            List<COUNT> weights, real hot, real spread,
                                            Weight weight)
{
    constexpr int lanes = (int)Shape::LANES;
    const long long pixels = Shape::BATCH * Shape::ITEMS;
    const long long step = (long long)gridDim.x * blockDim.x / lanes;
    const real scale = total[0] == 0 ? (real)0 : weight / total[0];
    for (long long at = (long long)blockIdx.x * blockDim.x / lanes; at < pixels; at += step) {
        const long long i = at + threadIdx.x / lanes;
        const PixelSoftmax<Shape, X> pixel(logits, i, i < pixels);
        const bool counts = i < samples * Shape::ITEMS;
        const real top = pixel.largest, tail = log(pixel.sum);
        real mass = 0;
        for (int o = pixel.first(); o < Shape::CLASSES; o += lanes)
            mass += class_weight(weights, o) * (hot * target[i * Shape::CLASSES + o] + spread);
        mass = pixel.group_sum(mass) / pixel.sum;
        for (int o = pixel.first(); o < Shape::CLASSES; o += lanes) {
            const long long to = i * Shape::CLASSES + o;
            const real apart = pixel.row[o] - top, w = class_weight(weights, o);
            const real change = mass * exp(apart) - w * (hot * target[to] + spread);
            if (dlogits) dlogits[to] = counts ? scale * change : (real)0;
            if (dtarget) dtarget[to] = counts ? scale * hot * w * (tail - apart) : (real)0;
        }
    }
}
