// The area under the curve of true positives over false ones, from counts in bins of probability.
#pragma once
#include "../support/net/class_counts.cuh"

// AreaUnderCurve: of each class by the trapezoidal rule; the mean over classes with positives and
// negatives.  The counts of a class are positives by bin, then negatives.
template <int BINS> struct AreaUnderCurve {
    static __device__ void add(const ClassCounts &count, long long, double *sum, double *weight)
    {
        double positives = 0, negatives = 0, area = 0;
        for (int b = BINS - 1; b >= 0; b--) {
            const double is = count[b], is_not = count[BINS + b];
            area += is_not * (positives + is / 2);
            positives += is;
            negatives += is_not;
        }
        if (!(positives > 0 && negatives > 0)) return;
        *sum += area / (positives * negatives);
        *weight += 1;
    }
};

// bin_of: the bin of a probability.
template <int BINS> static __device__ inline int bin_of(real probability)
{
    const real bin = ceil(probability * (real)BINS) - 1;
    return bin > 0 ? (int)min(bin, (real)(BINS - 1)) : 0;
}

// count_bins: partials[s,b,c] = how many pixels of run s have class c and its probability in bin b;
// partials[s,BINS+b,c] = how many have another class.  Probabilities are the softmax of logits
// [., ITEMS, CLASSES].  The only curve of two classes is that of the second.  Pixels labelled
// IGNORE or unknown, and pixels past samples, don't count.  A block has a run of RUN pixels and a
// class, a thread a pixel.
template <class Shape, class X = const real *>
__global__ void count_bins(int *partials, X logits, const int *label, long long samples)
{
    constexpr int classes = (int)Shape::CLASSES, curves = (int)Shape::CURVES;
    constexpr int bins = (int)Shape::BINS;
    __shared__ unsigned counts[2 * bins];
    for (int i = threadIdx.x; i < 2 * bins; i += blockDim.x) counts[i] = 0;
    __syncthreads();

    const long long run = blockIdx.x / curves, curve = blockIdx.x % curves;
    const int c = curves == 1 ? 1 : (int)curve;
    const long long begin = run * Shape::RUN, pixels = samples * Shape::ITEMS;
    const long long end = begin + Shape::RUN < pixels ? begin + Shape::RUN : pixels;
    for (long long i = begin + threadIdx.x; i < end; i += blockDim.x) {
        const int want = label[i];
        if (want < 0 || want >= classes || want == Shape::IGNORE) continue;
        const auto row = logits + i * classes;
        real most = row[0], sum = 0;
        for (int o = 1; o < classes; o++) most = max(most, (real)row[o]);
        for (int o = 0; o < classes; o++) sum += exp((real)row[o] - most);
        const int at = bin_of<bins>(exp((real)row[c] - most) / sum);
        atomicAdd(&counts[want == c ? at : bins + at], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * bins; i += blockDim.x)
        partials[(run * 2 * bins + i) * curves + curve] = (int)counts[i];
}

// count_target_bins: likewise of a target [., ITEMS, CLASSES], of which 0.5 and more has the class,
// and of the sigmoid of logits.  Each class has a curve.
template <class Shape, class X = const real *, class T = const real *>
__global__ void count_target_bins(int *partials, X logits, T target, long long samples)
{
    constexpr int classes = (int)Shape::CLASSES, bins = (int)Shape::BINS;
    __shared__ unsigned counts[2 * bins];
    for (int i = threadIdx.x; i < 2 * bins; i += blockDim.x) counts[i] = 0;
    __syncthreads();

    const long long run = blockIdx.x / classes, c = blockIdx.x % classes;
    const long long begin = run * Shape::RUN, pixels = samples * Shape::ITEMS;
    const long long end = begin + Shape::RUN < pixels ? begin + Shape::RUN : pixels;
    for (long long i = begin + threadIdx.x; i < end; i += blockDim.x) {
        const real score = logits[i * classes + c], is = target[i * classes + c];
        const int at = bin_of<bins>(1 / (1 + exp(-score)));
        atomicAdd(&counts[is >= (real)0.5 ? at : bins + at], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * bins; i += blockDim.x)
        partials[(run * 2 * bins + i) * classes + c] = (int)counts[i];
}
