// Convolution where each filter sees one channel: maps [N,H,W,C], weights [K,R,S], K a multiple of
// C.  Each weight is used for few elements, so a GEMM would gain nothing.  Threads run along
// channels, as memory does, and read their operands through the caches.
#pragma once
#include <type_traits>
#include "../support/vec/elementwise.cuh"
#include "../support/vec/identity.cuh"
#include "../support/vec/load.cuh"
#include "../support/gemm/mul_add.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/unroll.cuh"

// CountIndex: the cheapest type of an index below COUNT.
template <long long COUNT>
using CountIndex = std::conditional_t<(COUNT < 1LL << 31), unsigned, long long>;

// FilterTaps: the weights [V,R,S] of filters k to k + V - 1, which are adjacent: taps(c, r, s) is
// one.  At most MOST are in registers, or none.
template <class Shape, int V, int MOST, class Weights>
struct FilterTaps {
    static constexpr int R = (int)Shape::R, S = (int)Shape::S, ALL = V * R * S;
    static constexpr int HELD = ALL <= MOST ? ALL : 0, ONCE = V % 4 ? 1 : 4;
    Weights weight;
    long long first;
    real held[HELD ? HELD : 1];
    __device__ FilterTaps(const Weights &weight, int k)
        : weight(weight), first((long long)k * (R * S))
    {
        UNROLL for (int i = 0; i < HELD; i += ONCE) {
            const Vec<ONCE> some = load_vec<ONCE>(weight, first + i);
            for (int j = 0; j < ONCE; j++) held[i + j] = some.at[j];
        }
    }
    __device__ real operator()(int c, int r, int s) const
    {
        const int i = (c * R + r) * S + s;
        if constexpr (HELD > 0) return held[i];
        else return weight[first + i];
    }
};

// row_sums: sum[j] += factor[s] * x at w = left + j*stride + s*dilation, for each s in order, of V
// adjacent channels; `first` is the element at w = 0.  Several j share one load of an element.
template <class Shape, int STRIP, int V, class X>
static __device__ inline void row_sums(Vec<V> (&sum)[STRIP], const X &x, long long first, int left,
                                       const Vec<V> (&factor)[Shape::S])
{
    constexpr int S = (int)Shape::S, STRIDE = (int)Shape::STRIDE_W;
    constexpr int DILATION = (int)Shape::DILATION_W;
    constexpr int SPAN = (STRIP - 1) * STRIDE + (S - 1) * DILATION + 1;
    UNROLL
    for (int t = 0; t < SPAN; t++) {
        const int w = left + t;
        if ((unsigned)w >= (unsigned)Shape::W) continue;
        const Vec<V> v = load_vec<V>(x, first + w * Shape::C);
        for (int j = 0; j < STRIP; j++) {
            const int tap = t - j * STRIDE, s = tap / DILATION;
            if (tap < 0 || tap % DILATION != 0 || s >= S) continue;
            for (int c = 0; c < V; c++)
                sum[j].at[c] = mul_add(factor[s].at[c], v.at[c], sum[j].at[c]);
        }
    }
}

// depthwise_forward: y[n,p,q,k] = Act(bias[k] + sum over r,s of weight[k,r,s] * x[n,h,w,k / (K/C)])
// in this order, h = p*stride + r*dilation - pad, w likewise.  A thread: four q of a row and V
// filters; V is 1 where a channel has several.
template <class Shape, int V, class Act, bool BIAS, class X = const real *, class Y = real *>
__global__ void depthwise_forward(Y y, X x, const real *weight, const real *bias)
{
    constexpr int STRIP = 4, R = (int)Shape::R, S = (int)Shape::S, K = (int)Shape::K;
    constexpr int C = (int)Shape::C, H = (int)Shape::H, W = (int)Shape::W, Q = (int)Shape::Q;
    constexpr int STRIPS = (Q + STRIP - 1) / STRIP, VECS = K / V;
    constexpr long long count = Shape::N * Shape::P * STRIPS * VECS;
    FOR_EACH(thread, count) {
        const CountIndex<count> i = (CountIndex<count>)thread, row = i / VECS / STRIPS;
        const CountIndex<count> n = row / Shape::P;
        const int k = (int)(i % VECS) * V, q = (int)(i / VECS % STRIPS) * STRIP;
        const int top = (int)((row - n * Shape::P) * Shape::STRIDE_H - Shape::PAD_TOP);
        const int left = (int)(q * Shape::STRIDE_W - Shape::PAD_LEFT);
        const long long map = (long long)n * H * W * C + k / (K / C);
        const FilterTaps<Shape, V, 72, const real *> taps(weight, k);
        Vec<V> sum[STRIP] = {};
        UNROLL for (int r = 0; r < R; r++) {
            const int h = top + r * (int)Shape::DILATION_H;
            if ((unsigned)h >= (unsigned)H) continue;
            Vec<V> factor[S];
            for (int s = 0; s < S; s++)
                for (int c = 0; c < V; c++) factor[s].at[c] = taps(c, r, s);
            row_sums<Shape>(sum, x, map + (long long)h * W * C, left, factor);
        }
        for (int j = 0; j < STRIP && q + j < Q; j++) {
            Vec<V> made;
            for (int c = 0; c < V; c++)
                made.at[c] = Act::forward(BIAS ? sum[j].at[c] + bias[k + c] : sum[j].at[c]);
            store_vec(y, ((long long)row * Q + q + j) * K + k, made);
        }
    }
}

// depthwise_dgrad: dx[n,h,w,c] = sum over k of c, r, s of weight[k,r,s] * dy[n,p,q,k] in this
// order, times Act's derivative at mask, which may be dx.  A thread: V channels of a pixel; V is 1
// where a channel has several filters.
template <class Shape, int V, class Act, class DY = const real *, class Weights = const real *,
          class Mask = const real *, class DX = real *>
__global__ void depthwise_dgrad(DX dx, DY dy, Weights weight, Mask mask)
{
    constexpr int R = (int)Shape::R, S = (int)Shape::S, EACH = (int)(Shape::K / Shape::C);
    constexpr int C = (int)Shape::C, H = (int)Shape::H, W = (int)Shape::W, VECS = C / V;
    constexpr int P = (int)Shape::P, Q = (int)Shape::Q;
    constexpr int STRIDE_H = (int)Shape::STRIDE_H, STRIDE_W = (int)Shape::STRIDE_W;
    constexpr long long count = Shape::N * H * W * VECS;
    FOR_EACH(thread, count) {
        const CountIndex<count> i = (CountIndex<count>)thread, row = i / VECS / W, n = row / H;
        const int c = (int)(i % VECS) * V, w = (int)(i / VECS % W) + (int)Shape::PAD_LEFT;
        const int h = (int)(row - n * H) + (int)Shape::PAD_TOP;
        Vec<V> sum = {};
        for (int k = c * EACH; k < (c + 1) * EACH; k++) {
            // With a stride a pixel meets some of the taps.
            constexpr int MOST = STRIDE_H * STRIDE_W == 1 ? 72 : 0;
            const FilterTaps<Shape, V, MOST, Weights> taps(weight, k);
            UNROLL for (int r = 0; r < R; r++) {
                const int down = h - r * (int)Shape::DILATION_H, p = down / STRIDE_H;
                if (down < 0 || down % STRIDE_H != 0 || p >= P) continue;
                UNROLL for (int s = 0; s < S; s++) {
                    const int across = w - s * (int)Shape::DILATION_W, q = across / STRIDE_W;
                    if (across < 0 || across % STRIDE_W != 0 || q >= Q) continue;
                    const Vec<V> slope =
                        load_vec<V>(dy, (((long long)n * P + p) * Q + q) * Shape::K + k);
                    for (int j = 0; j < V; j++)
                        sum.at[j] = mul_add(taps(j, r, s), slope.at[j], sum.at[j]);
                }
            }
        }
        for (int j = 0; j < V; j++)
            sum.at[j] = Act::gradient(sum.at[j], mask, (long long)i * V + j);
        store_vec(dx, (long long)i * V, sum);
    }
}

// depthwise_wgrad: dw[split,k,r,s] = sum of dy[n,p,q,k] * x[n,h,w,k / (K/C)] over the split's
// strips of four q and, if BIAS, db[split,k] = the sum of dy.  A block: WIDTH vectors of V filters,
// some rows of taps and a split; each of its N = 256 / WIDTH lanes takes every N-th strip, and a
// tree adds the lanes up.  Result is a pointer, or a Momentum.
template <class Shape, int V, int WIDTH, int ROWS, int SPLITS, bool BIAS, class Result,
          class DY = const real *, class X = const real *>
__global__ void depthwise_wgrad(Result dw, Result db, DY dy, X x)
{
    constexpr int R = (int)Shape::R, S = (int)Shape::S, K = (int)Shape::K, C = (int)Shape::C;
    constexpr int P = (int)Shape::P, Q = (int)Shape::Q, STRIP = 4, LANES = 256 / WIDTH;
    constexpr int STRIPS = (Q + STRIP - 1) / STRIP, CHUNKS = (R + ROWS - 1) / ROWS;
    constexpr int COLUMNS = (K / V + WIDTH - 1) / WIDTH, TAPS = ROWS * S;
    constexpr int STRIDE = (int)Shape::STRIDE_W, DILATION = (int)Shape::DILATION_W;
    constexpr int SPAN = (STRIP - 1) * STRIDE + (S - 1) * DILATION + 1;
    constexpr long long ALL = Shape::N * P * STRIPS, RUN = (ALL + SPLITS - 1) / SPLITS;
    __shared__ real partial[V][256];
    const int column = (int)threadIdx.x % WIDTH, lane = (int)threadIdx.x / WIDTH;
    const int k = ((int)(blockIdx.x % COLUMNS) * WIDTH + column) * V;
    const int first = (int)(blockIdx.x / COLUMNS % CHUNKS) * ROWS;
    const long long split = blockIdx.x / COLUMNS / CHUNKS;
    const long long begin = split * RUN, end = begin + RUN < ALL ? begin + RUN : ALL;
    Vec<V> sums[TAPS + 1] = {};

    for (long long at = begin + lane; at < end && k < K; at += LANES) {
        const CountIndex<ALL> strip = (CountIndex<ALL>)at, row = strip / STRIPS, n = row / P;
        const int q = (int)(strip % STRIPS) * STRIP, left = q * STRIDE - (int)Shape::PAD_LEFT;
        const int top = (int)((row - n * P) * Shape::STRIDE_H - Shape::PAD_TOP);
        Vec<V> slope[STRIP] = {};
        UNROLL for (int j = 0; j < STRIP; j++) {
            if (q + j < Q) slope[j] = load_vec<V>(dy, ((long long)row * Q + q + j) * K + k);
            for (int c = 0; c < V; c++) sums[TAPS].at[c] += slope[j].at[c];
        }
        UNROLL for (int r = 0; r < ROWS; r++) {
            const int h = top + (first + r) * (int)Shape::DILATION_H;
            if (first + r >= R || (unsigned)h >= (unsigned)Shape::H) continue;
            const long long line = (n * Shape::H + h) * Shape::W * C + k / (K / C);
            UNROLL for (int t = 0; t < SPAN; t++) {
                const int w = left + t;
                if ((unsigned)w >= (unsigned)Shape::W) continue;
                const Vec<V> v = load_vec<V>(x, line + w * C);
                UNROLL for (int j = 0; j < STRIP; j++) {
                    const int tap = t - j * STRIDE, s = tap / DILATION;
                    if (tap < 0 || tap % DILATION != 0 || s >= S || q + j >= Q) continue;
                    for (int c = 0; c < V; c++)
                        sums[r * S + s].at[c] =
                            mul_add(slope[j].at[c], v.at[c], sums[r * S + s].at[c]);
                }
            }
        }
    }
    UNROLL for (int j = 0; j <= TAPS; j++) {
        if (j == TAPS && !(BIAS && first == 0)) break;
        for (int c = 0; c < V; c++) partial[c][threadIdx.x] = sums[j].at[c];
        for (int half = LANES / 2; half > 0; half /= 2) {
            __syncthreads();
            for (int c = 0; c < V && lane < half; c++)
                partial[c][threadIdx.x] += partial[c][threadIdx.x + half * WIDTH];
        }
        for (int c = 0; c < V && lane == 0 && k < K; c++) {
            if (j == TAPS) db[split * K + k + c] = partial[c][column];
            else if (first * S + j < R * S)
                dw[(split * K + k + c) * (R * S) + first * S + j] = partial[c][column];
        }
        __syncthreads();
    }
}
