// The loss of a single-shot detector (Liu et al. 2016).  It matches anchors with boxes, selects
// others as background, and computes the loss of their predictions.
//
// N samples of ANCHORS anchors and at most BOXES boxes [left, top, right, bottom] of one of CLASSES
// classes; a box of class 0 or without area is ignored.  match [N, ANCHORS]: the box that an anchor
// is matched with; or, below 0:
#pragma once
#include "../support/net/anchors.cuh"
#include "../support/vec/elementwise.cuh"
#include "../support/net/loss_scale.cuh"
#include "softmax_cross_entropy.cuh"

static constexpr int BACKGROUND = -1, NOT_COUNTED = -2;

// multibox_match: match[n,a] = the box that anchor a overlaps most, from `overlap` on, the first of
// equals, else BACKGROUND; then each box in turn takes the anchor that it overlaps most.  A block:
// a sample.
template <class Shape>
__global__ void multibox_match(int *match, const real *boxes, const int *labels, real overlap,
                               const __grid_constant__ List<(int)Shape::MAPS> maps,
                               const __grid_constant__ List<(int)Shape::MAPS> counts,
                               const __grid_constant__ List<(int)Shape::SIZES> sizes)
{
    constexpr int ANCHORS = (int)Shape::ANCHORS, BOXES = (int)Shape::BOXES, THREADS = 256;
    __shared__ real most[THREADS];
    __shared__ int at[THREADS];
    const Anchors<Shape> anchors = {maps, counts, sizes};
    const int thread = (int)threadIdx.x;
    match += (long long)blockIdx.x * ANCHORS;
    boxes += (long long)blockIdx.x * BOXES * 4;
    labels += (long long)blockIdx.x * BOXES;
    for (int a = thread; a < ANCHORS; a += THREADS) {
        const BoundingBox anchor = anchors(a);
        real best = 0;
        int box = BACKGROUND;
        for (int i = 0; i < BOXES; i++) {
            const BoundingBox other = box_of_corners(boxes + 4 * i);
            const real now = is_box(labels[i], other) ? box_overlap(anchor, other) : 0;
            if (now > best) best = now, box = i;
        }
        match[a] = best >= overlap ? box : BACKGROUND;
    }
    for (int i = 0; i < BOXES; i++) {
        const BoundingBox box = box_of_corners(boxes + 4 * i);
        if (!is_box(labels[i], box)) continue;
        real best = -1;
        int first = ANCHORS;
        for (int a = thread; a < ANCHORS; a += THREADS) {
            const real now = box_overlap(anchors(a), box);
            if (now > best) best = now, first = a;
        }
        most[thread] = best;
        at[thread] = first;
        for (int half = THREADS / 2; half > 0; half /= 2) {
            __syncthreads();
            const int other = thread + half;
            if (thread < half && (most[other] > most[thread] ||
                                  (most[other] == most[thread] && at[other] < at[thread]))) {
                most[thread] = most[other];
                at[thread] = at[other];
            }
        }
        // The barrier also ends the writes of the first loop.
        if (thread == 0 && at[0] < ANCHORS) match[at[0]] = i;
        __syncthreads();
    }
}

// multibox_entropy: entropy[n,a] = -log(softmax(scores[n,a])[class]), the class that of the box
// that the anchor stands for, or 0; scores [N, ANCHORS, CLASSES].  A warp: a row.
template <class Shape, class X = const real *>
__global__ void multibox_entropy(real *entropy, X scores, const int *match,
                                 const int *labels)
{
    constexpr long long ROWS = Shape::N * Shape::ANCHORS, CLASSES = Shape::CLASSES;
    FOR_OWN(i, 32 * ROWS) {
        const long long row = i / 32, n = row / Shape::ANCHORS;
        const int label = match[row] >= 0 ? labels[n * Shape::BOXES + match[row]] : 0;
        real largest, sum = softmax_sum(scores + row * CLASSES, CLASSES, largest);
        const bool known = label < CLASSES;
        const real loss =
            known ? log(sum) - (scores[row * CLASSES + label] - largest) : (real)NAN;
        if (i % 32 == 0) entropy[row] = loss;
    }
}

// multibox_choose: chosen = match, but only part of the background counts: the anchors of the
// largest entropy, the first of equals.  They are `ratio` times as many as stand for boxes;
// positives[n] = how many stand for boxes.  A block: a sample.
template <class Shape>
__global__ void multibox_choose(int *chosen, int *positives, const int *match,
                                const real *entropy, real ratio)
{
    constexpr int ANCHORS = (int)Shape::ANCHORS, THREADS = 256;
    __shared__ int count[THREADS];
    const int thread = (int)threadIdx.x;
    chosen += (long long)blockIdx.x * ANCHORS;
    match += (long long)blockIdx.x * ANCHORS;
    entropy += (long long)blockIdx.x * ANCHORS;
    int own = 0;
    for (int a = thread; a < ANCHORS; a += THREADS) own += match[a] >= 0;
    count[thread] = own;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) count[thread] += count[thread + half];
    }
    __syncthreads();
    const real limit = ratio * (real)count[0];
    for (int a = thread; a < ANCHORS; a += THREADS) {
        int rank = 0;
        if (match[a] < 0)
            for (int b = 0; b < ANCHORS; b++)
                rank += match[b] < 0 && (entropy[b] > entropy[a] ||
                                         (entropy[b] == entropy[a] && b < a));
        chosen[a] = match[a] >= 0 ? match[a] : (real)rank < limit ? BACKGROUND : NOT_COUNTED;
    }
    if (thread == 0) positives[blockIdx.x] = count[0];
}

// multibox_share: the divisor of an anchor's loss: the number of matched anchors in all samples.
static __device__ inline real multibox_share(const int *positives, long long samples, real weight)
{
    long long total = 0;
    for (long long n = 0; n < samples; n++) total += positives[n];
    return weight / (real)(total > 0 ? total : 1);
}

// multibox_forward: rows[n] = {weight * sum, positives[n]}.  The sum has the entropy of each anchor
// that counts.  Where the anchor stands for a box, it also has the smooth L1 distances of locations
// [N, ANCHORS, 4] from the box's code.  A block: a sample.  0 past samples.
template <class Shape, class X = const real *>
__global__ void multibox_forward(real *rows, const real *entropy, X locations,
                                 const real *boxes, const int *chosen, const int *positives,
                                 long long samples, real weight,
                                 const __grid_constant__ List<(int)Shape::MAPS> maps,
                                 const __grid_constant__ List<(int)Shape::MAPS> counts,
                                 const __grid_constant__ List<(int)Shape::SIZES> sizes)
{
    constexpr int ANCHORS = (int)Shape::ANCHORS, THREADS = 256;
    __shared__ real partial[THREADS];
    const Anchors<Shape> anchors = {maps, counts, sizes};
    const long long n = blockIdx.x;
    const int thread = (int)threadIdx.x;
    real sum = 0;
    for (int a = thread; a < ANCHORS; a += THREADS) {
        const long long at = n * ANCHORS + a;
        if (chosen[at] != NOT_COUNTED) sum += entropy[at];
        if (chosen[at] < 0) continue;
        real code[4];
        box_code(box_of_corners(boxes + 4 * (n * Shape::BOXES + chosen[at])), anchors(a), code);
        for (int j = 0; j < 4; j++) {
            const real off = fabs(locations[4 * at + j] - code[j]);
            sum += off < 1 ? off * off / 2 : off - (real)0.5;
        }
    }
    partial[thread] = sum;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) partial[thread] += partial[thread + half];
    }
    if (thread > 0) return;
    rows[2 * n] = n < samples ? weight * partial[0] : (real)0;
    rows[2 * n + 1] = n < samples ? (real)positives[n] : (real)0;
}

// multibox_scores: dscores[n,a,c] = weight / positives * (softmax(scores[n,a])[c] - (c is the
// class)) where the anchor counts, else 0.  A warp: a row.  dscores may be scores.
// Weight is real, or makes one.
template <class Shape, class Weight, class X = const real *, class DX = real *>
__global__ void multibox_scores(DX dscores, X scores, const int *chosen,
                                const int *labels, const int *positives, long long samples,
                                Weight weight)
{
    constexpr long long ROWS = Shape::N * Shape::ANCHORS, CLASSES = Shape::CLASSES;
    const real share = multibox_share(positives, samples, weight);
    FOR_OWN(i, 32 * ROWS) {
        const long long row = i / 32, n = row / Shape::ANCHORS, first = row * CLASSES;
        const bool counts = chosen[row] != NOT_COUNTED && n < samples;
        const int label = chosen[row] >= 0 ? labels[n * Shape::BOXES + chosen[row]] : 0;
        real largest, sum = softmax_sum(scores + first, CLASSES, largest);
        for (long long c = i % 32; c < CLASSES; c += 32) {
            const real change = exp(scores[first + c] - largest) / sum - (real)(c == label);
            dscores[first + c] = counts ? share * change : (real)0;
        }
    }
}

// multibox_locations: dlocations = weight / positives * the slope of the smooth L1 distance where
// an anchor stands for a box, else 0.  A thread: the four of an anchor.  It may be locations.
// Weight is real, or makes one.
template <class Shape, class Weight, class X = const real *, class DX = real *>
__global__ void multibox_locations(DX dlocations, X locations, const real *boxes,
                                   const int *chosen, const int *positives, long long samples,
                                   Weight weight,
                                   const __grid_constant__ List<(int)Shape::MAPS> maps,
                                   const __grid_constant__ List<(int)Shape::MAPS> counts,
                                   const __grid_constant__ List<(int)Shape::SIZES> sizes)
{
    const Anchors<Shape> anchors = {maps, counts, sizes};
    const real share = multibox_share(positives, samples, weight);
    FOR_EACH(i, Shape::N * Shape::ANCHORS) {
        const long long n = i / Shape::ANCHORS;
        const bool told = chosen[i] >= 0 && n < samples;
        real code[4] = {};
        if (told)
            box_code(box_of_corners(boxes + 4 * (n * Shape::BOXES + chosen[i])),
                     anchors(i % Shape::ANCHORS), code);
        for (int j = 0; j < 4; j++) {
            const real off = locations[4 * i + j] - code[j];
            const real slope = off > 1 ? (real)1 : off < -1 ? (real)-1 : off;
            dlocations[4 * i + j] = told ? share * slope : (real)0;
        }
    }
}
