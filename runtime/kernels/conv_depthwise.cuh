// Convolution where each filter sees one channel: maps [N,H,W,C], weights [K,R,S], K a multiple of
// C.  Each weight is used for few elements, so a GEMM would gain nothing.  Threads run along
// channels, as memory does, and read their operands through the caches.  A thread makes a tile of
// HEIGHT x WIDTH pixels of V channels, so that it reads an element once for all of its taps.
#pragma once
#include <type_traits>
#include "../support/vec/elementwise.cuh"
#include "../support/vec/identity.cuh"
#include "../support/vec/load.cuh"
#include "../support/vec/mul_add.cuh"
#include "../support/vec/real.cuh"
#include "../support/vec/unroll.cuh"

// CountIndex: the cheapest type of an index below COUNT.
template <long long COUNT>
using CountIndex = std::conditional_t<(COUNT < 1LL << 31), unsigned, long long>;

// from_row: weights of which rows from k on are read; they may have scales.
template <class Weights>
static __device__ inline auto from_row(const Weights &weight, int k, int) -> decltype(weight.row(k))
{
    return weight.row(k);
}
template <class Weights>
static __device__ inline Weights from_row(const Weights &weight, int, long)
{
    return weight;
}

// FilterTaps: the weights [V,R,S] of filters k to k + V - 1, which are adjacent: taps(c, r, s) is
// one.  At most MOST are in registers, or none.
template <class Shape, int V, int MOST, class Weights>
struct FilterTaps {
    static constexpr int R = (int)Shape::R, S = (int)Shape::S, ALL = V * R * S;
    static constexpr int HELD = ALL <= MOST ? ALL : 0, ONCE = V % 4 == 0 ? 4 : V;
    Weights weight;
    long long first;
    real held[HELD ? HELD : 1];
    __device__ FilterTaps(const Weights &all, int k)
        : weight(from_row(all, k, 0)), first((long long)k * (R * S))
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

// channel_loader: loads V channels of x from c on, at an element; their terms are loaded once.
template <int V, class X>
static __device__ inline auto channel_loader(const X &x, int c)
{
    if constexpr (HasTerms<X>::value) {
        const auto terms = x.template terms<V>(c);
        return [=](long long i) { return X::of(load_vec<V>(x.x, i), terms); };
    } else {
        return [=](long long i) { return load_vec<V>(x, i); };
    }
}

// channel_storer: stores V channels from c on to y, at an element.
template <int V, class Y>
static __device__ inline auto channel_storer(const Y &y, int)
{
    return [=](long long at, const Vec<V> &v) { store_vec(y, at, v); };
}

// Gather: along one axis, a tile of OUT results from `at` on reads IN elements from begin(at) on.
// Result i takes tap(i, j) of element j; a number outside of the filter is no tap.
template <int RESULTS, int TAPS, int STRIDE, int DILATION, int PAD>
struct Gather {
    static constexpr int OUT = RESULTS, IN = (OUT - 1) * STRIDE + (TAPS - 1) * DILATION + 1;
    static __device__ int begin(int at) { return at * STRIDE - PAD; }
    static __device__ int tap(int i, int j)
    {
        const int apart = j - i * STRIDE;
        return apart % DILATION == 0 ? apart / DILATION : -1;
    }
};

// Scatter: the same for a data gradient, whose `at` and OUT are multiples of the stride.
template <int RESULTS, int TAPS, int STRIDE, int DILATION, int PAD>
struct Scatter {
    static constexpr int OUT = RESULTS, LOWEST = PAD - (TAPS - 1) * DILATION;
    static constexpr int LOW = LOWEST < 0 ? -(-LOWEST / STRIDE) : (LOWEST + STRIDE - 1) / STRIDE;
    static constexpr int IN = (OUT - 1 + PAD) / STRIDE - LOW + 1;
    static __device__ int begin(int at) { return at / STRIDE + LOW; }
    static __device__ int tap(int i, int j)
    {
        const int apart = i + PAD - (j + LOW) * STRIDE;
        return apart >= 0 && apart % DILATION == 0 ? apart / DILATION : -1;
    }
};

// each_tap: calls take(p, q, r, s, x) for each element x that a tile reads, in order.  Result p, q
// of the tile takes it by tap r, s.  The first element is at row h, column w of a map that begins
// at `map`; its pixels are `step` apart.  Elements outside are zero.
template <class Down, class Across, int R, int S, int V, class Load, class Take>
static __device__ inline void each_tap(const Load &load, long long map, int h, int w, int height,
                                       int width, int step, const Take &take)
{
    const long long first = map + ((long long)h * width + w) * step;
    UNROLL for (int i = 0; i < Down::IN; i++)
        UNROLL for (int j = 0; j < Across::IN; j++) {
            Vec<V> x = {};
            if ((unsigned)(h + i) < (unsigned)height && (unsigned)(w + j) < (unsigned)width)
                x = load(first + (i * width + j) * step);
            UNROLL for (int p = 0; p < Down::OUT; p++)
                UNROLL for (int q = 0; q < Across::OUT; q++) {
                    const int r = Down::tap(p, i), s = Across::tap(q, j);
                    if (r >= 0 && r < R && s >= 0 && s < S) take(p, q, r, s, x);
                }
        }
}

// tile_sums: adds the products of each_tap's elements and taps to the tile's results.
template <class Down, class Across, class Shape, int V, class Taps, class Load>
static __device__ inline void tile_sums(Vec<V> (&sum)[Down::OUT][Across::OUT], const Taps &taps,
                                        const Load &load, long long map, int h, int w, int height,
                                        int width, int step)
{
    each_tap<Down, Across, (int)Shape::R, (int)Shape::S, V>(
        load, map, h, w, height, width, step, [&](int a, int b, int r, int s, const Vec<V> &v) {
            for (int j = 0; j < V; j++)
                sum[a][b].at[j] = mul_add(taps(j, r, s), v.at[j], sum[a][b].at[j]);
        });
}

// depthwise_forward: y[n,p,q,k] = Act(bias[k] + sum over r,s of weight[k,r,s] * x[n,h,w,k / (K/C)])
// in this order, h = p*stride + r*dilation - pad, w likewise.  V is 1 where a channel has several
// filters.
template <class Shape, int V, int HEIGHT, int WIDTH, class Act, bool BIAS, class X = const real *,
          class Y = real *, class Weights = const real *>
__global__ void __launch_bounds__(256)
    depthwise_forward(Y y, X x, Weights weight, const real *bias)
{
    constexpr int R = (int)Shape::R, S = (int)Shape::S, K = (int)Shape::K, C = (int)Shape::C;
    constexpr int H = (int)Shape::H, W = (int)Shape::W, P = (int)Shape::P, Q = (int)Shape::Q;
    constexpr int DOWN = (P + HEIGHT - 1) / HEIGHT, ACROSS = (Q + WIDTH - 1) / WIDTH, VECS = K / V;
    constexpr long long count = Shape::N * DOWN * ACROSS * VECS;
    typedef Gather<HEIGHT, R, (int)Shape::STRIDE_H, (int)Shape::DILATION_H, (int)Shape::PAD_TOP>
        Down;
    typedef Gather<WIDTH, S, (int)Shape::STRIDE_W, (int)Shape::DILATION_W, (int)Shape::PAD_LEFT>
        Across;
    FOR_EACH(thread, count) {
        const CountIndex<count> i = (CountIndex<count>)thread, tile = i / VECS;
        const int k = (int)(i % VECS) * V, q = (int)(tile % ACROSS) * WIDTH;
        const int p = (int)(tile / ACROSS % DOWN) * HEIGHT, c = k / (K / C);
        const long long n = tile / ACROSS / DOWN;
        const FilterTaps<Shape, V, 72, Weights> taps(weight, k);
        Vec<V> sum[HEIGHT][WIDTH] = {};
        tile_sums<Down, Across, Shape>(sum, taps, channel_loader<V>(x, c), n * H * W * C + c,
                                       Down::begin(p), Across::begin(q), H, W, C);
        const long long first = ((n * P + p) * Q + q) * K + k;
        Vec<V> add = {};
        if (BIAS) add = load_vec<V>(bias, k);
        const auto store = channel_storer<V>(y, k);
        UNROLL for (int a = 0; a < HEIGHT; a++)
            UNROLL for (int b = 0; b < WIDTH; b++) {
                if ((P % HEIGHT && p + a >= P) || (Q % WIDTH && q + b >= Q)) continue;
                for (int j = 0; j < V; j++)
                    sum[a][b].at[j] =
                        Act::forward(BIAS ? sum[a][b].at[j] + add.at[j] : sum[a][b].at[j]);
                store(first + (a * Q + b) * K, sum[a][b]);
            }
    }
}

// depthwise_dgrad: dx[n,h,w,c] = sum over k of c, p, q of weight[k,r,s] * dy[n,p,q,k] in this
// order, times Act's derivative at mask, which may be dx.  V is 1 where a channel has several
// filters.
template <class Shape, int V, int HEIGHT, int WIDTH, class Act, class DY = const real *,
          class Weights = const real *, class Mask = const real *, class DX = real *>
__global__ void __launch_bounds__(256)
    depthwise_dgrad(DX dx, DY dy, Weights weight, Mask mask)
{
    constexpr int R = (int)Shape::R, S = (int)Shape::S, K = (int)Shape::K, C = (int)Shape::C;
    constexpr int H = (int)Shape::H, W = (int)Shape::W, P = (int)Shape::P, Q = (int)Shape::Q;
    constexpr int DOWN = (H + HEIGHT - 1) / HEIGHT, ACROSS = (W + WIDTH - 1) / WIDTH, VECS = C / V;
    constexpr int EACH = K / C;
    constexpr long long count = Shape::N * DOWN * ACROSS * VECS;
    typedef Scatter<HEIGHT, R, (int)Shape::STRIDE_H, (int)Shape::DILATION_H, (int)Shape::PAD_TOP>
        Down;
    typedef Scatter<WIDTH, S, (int)Shape::STRIDE_W, (int)Shape::DILATION_W, (int)Shape::PAD_LEFT>
        Across;
    FOR_EACH(thread, count) {
        const CountIndex<count> i = (CountIndex<count>)thread, tile = i / VECS;
        const int c = (int)(i % VECS) * V, w = (int)(tile % ACROSS) * WIDTH;
        const int h = (int)(tile / ACROSS % DOWN) * HEIGHT;
        const long long n = tile / ACROSS / DOWN;
        Vec<V> sum[HEIGHT][WIDTH] = {};
        for (int k = c * EACH; k < (c + 1) * EACH; k++) {
            const FilterTaps<Shape, V, 72, Weights> taps(weight, k);
            tile_sums<Down, Across, Shape>(sum, taps, channel_loader<V>(dy, k), n * P * Q * K + k,
                                           Down::begin(h), Across::begin(w), P, Q, K);
        }
        const long long first = ((n * H + h) * W + w) * C + c;
        auto each = [&](const auto &meet) {
            UNROLL for (int a = 0; a < HEIGHT; a++)
                UNROLL for (int b = 0; b < WIDTH; b++)
                    if ((H % HEIGHT == 0 || h + a < H) && (W % WIDTH == 0 || w + b < W))
                        meet(sum[a][b], first + (a * W + b) * C);
        };
        each([&](Vec<V> &made, long long at) {
            const auto own = load_lazy<V>(mask, at, c);
            for (int j = 0; j < V; j++) made.at[j] = Act::gradient(made.at[j], own, at + j);
        });
        each([&](Vec<V> &made, long long at) { store_vec(dx, at, made); });
    }
}

// depthwise_wgrad: dw[split,k,r,s] = sum of dy[n,p,q,k] * x[n,h,w,k / (K/C)] over the split's tiles
// and, if BIAS, db[split,k] = the sum of dy.  A block: WIDE vectors of V filters, some rows of taps
// and a split; each of its N = 256 / WIDE lanes takes every N-th tile, and a tree adds the lanes
// up.  Result is a pointer, or a Momentum.
template <class Shape, int V, int HEIGHT, int WIDTH, int WIDE, int ROWS, int SPLITS, bool BIAS,
          class Result, class DY = const real *, class X = const real *>
__global__ void __launch_bounds__(256) depthwise_wgrad(Result dw, Result db, DY dy, X x)
{
    constexpr int R = (int)Shape::R, S = (int)Shape::S, K = (int)Shape::K, C = (int)Shape::C;
    constexpr int H = (int)Shape::H, W = (int)Shape::W, P = (int)Shape::P, Q = (int)Shape::Q;
    constexpr int DOWN = (P + HEIGHT - 1) / HEIGHT, ACROSS = (Q + WIDTH - 1) / WIDTH;
    constexpr int LANES = 256 / WIDE, CHUNKS = (R + ROWS - 1) / ROWS, TAPS = ROWS * S;
    constexpr int COLUMNS = (K / V + WIDE - 1) / WIDE;
    constexpr long long ALL = Shape::N * DOWN * ACROSS, RUN = (ALL + SPLITS - 1) / SPLITS;
    typedef Gather<HEIGHT, ROWS, (int)Shape::STRIDE_H, (int)Shape::DILATION_H, (int)Shape::PAD_TOP>
        Down;
    typedef Gather<WIDTH, S, (int)Shape::STRIDE_W, (int)Shape::DILATION_W, (int)Shape::PAD_LEFT>
        Across;
    __shared__ real partial[V][256];
    const int column = (int)threadIdx.x % WIDE, lane = (int)threadIdx.x / WIDE;
    const int k = ((int)(blockIdx.x % COLUMNS) * WIDE + column) * V, c = k / (K / C);
    const int first = (int)(blockIdx.x / COLUMNS % CHUNKS) * ROWS;
    const long long split = blockIdx.x / COLUMNS / CHUNKS;
    const long long begin = split * RUN, end = begin + RUN < ALL ? begin + RUN : ALL;
    Vec<V> sums[TAPS + 1] = {};

    if (k < K) {
        const auto slopes = channel_loader<V>(dy, k);
        const auto pixels = channel_loader<V>(x, c);
        for (long long at = begin + lane; at < end; at += LANES) {
            const CountIndex<ALL> tile = (CountIndex<ALL>)at;
            const int q = (int)(tile % ACROSS) * WIDTH, p = (int)(tile / ACROSS % DOWN) * HEIGHT;
            const long long n = tile / ACROSS / DOWN;
            const long long own = ((n * P + p) * Q + q) * K + k;
            Vec<V> slope[HEIGHT][WIDTH] = {};
            UNROLL for (int a = 0; a < HEIGHT; a++)
                UNROLL for (int b = 0; b < WIDTH; b++) {
                    if ((P % HEIGHT == 0 || p + a < P) && (Q % WIDTH == 0 || q + b < Q))
                        slope[a][b] = slopes(own + (a * Q + b) * K);
                    for (int j = 0; j < V; j++) sums[TAPS].at[j] += slope[a][b].at[j];
                }
            each_tap<Down, Across, ROWS, S, V>(
                pixels, n * H * W * C + c, Down::begin(p) + first * (int)Shape::DILATION_H,
                Across::begin(q), H, W, C, [&](int a, int b, int r, int s, const Vec<V> &v) {
                    for (int j = 0; j < V; j++)
                        sums[r * S + s].at[j] =
                            mul_add(slope[a][b].at[j], v.at[j], sums[r * S + s].at[j]);
                });
        }
    }
    UNROLL for (int j = 0; j <= TAPS; j++) {
        if (j == TAPS && !(BIAS && first == 0)) break;
        for (int v = 0; v < V; v++) partial[v][threadIdx.x] = sums[j].at[v];
        for (int half = LANES / 2; half > 0; half /= 2) {
            __syncthreads();
            for (int v = 0; v < V && lane < half; v++)
                partial[v][threadIdx.x] += partial[v][threadIdx.x + half * WIDE];
        }
        for (int v = 0; v < V && lane == 0 && k < K; v++) {
            if (j == TAPS) db[split * K + k + v] = partial[v][column];
            else if (first * S + j < R * S)
                dw[(split * K + k + v) * (R * S) + first * S + j] = partial[v][column];
        }
        __syncthreads();
    }
}
