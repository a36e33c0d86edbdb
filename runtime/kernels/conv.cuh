// Convolution of maps [N,H,W,C] with weights [K,R,S,C/groups], and its two gradients, each as one
// product whose operands are read straight from the maps (nothing is unrolled in memory):
//
//                rows                columns        summed over       operands
//   forward      pixels n,p,q of y   k of a group   r, s, c           x, weight
//   dgrad        pixels n,h,w of dx  c of a group   taps r, s, and k  dy, weight
//   wgrad        k of a group        r, s, c        pixels n,p,q      dy, x
//
// With a stride, a pixel of dx meets only the taps r with (h + pad - r*dilation) % stride == 0.
// They are the same for all h of one h % stride.  So dx falls into stride_h * stride_w classes of
// pixels, and each is a dense convolution with every few taps; a block works in one class.
//
// Blocks are numbered with column tiles fastest, then groups, then classes or splits, then rows.
#pragma once
#include "../support/identity.cuh"
#include "../support/product.cuh"

// ConvGroup: what the three products call the parts of a Shape.  PACK_C and PACK_K: how many
// channels of x and of y can be read at once.
template <class Shape>
struct ConvGroup {
    static constexpr int C = (int)(Shape::C / Shape::GROUPS), K = (int)(Shape::K / Shape::GROUPS);
    static constexpr int R = (int)Shape::R, S = (int)Shape::S, FILTER = R * S * C;
    static constexpr int PACK_C = C % 4 == 0 ? 4 : 1, PACK_K = K % 4 == 0 ? 4 : 1;
    static constexpr long long PIXELS = Shape::N * Shape::P * Shape::Q;
};

// ConvBlock: which tile of which group, and of which class or split, the block makes.
struct ConvBlock {
    int column, group, part;
    long long row;
};

// conv_block: that of blockIdx.x, for columns in each of groups, in each of parts.
template <class Tile>
static __device__ inline ConvBlock conv_block(int columns, int groups, int parts)
{
    int tiles = (columns + Tile::COLUMNS - 1) / Tile::COLUMNS, i = (int)blockIdx.x;
    return ConvBlock{i % tiles * Tile::COLUMNS, i / tiles % groups, i / tiles / groups % parts,
                     (long long)(i / tiles / groups / parts) * Tile::ROWS};
}

// ConvWindow: where in x the window of pixel i of y, below end, begins.
template <class Shape>
struct ConvWindow {
    long long end;
    __device__ inline Spot operator()(long long i) const
    {
        if (i >= end) return nowhere();
        Digits d = digits_of<ConvGroup<Shape>::PIXELS>(i, Shape::P, Shape::Q);
        int h = (int)(d.middle * Shape::STRIDE_H - Shape::PAD_TOP);
        int w = (int)(d.inner * Shape::STRIDE_W - Shape::PAD_LEFT);
        return Spot{((d.outer * Shape::H + h) * Shape::W + w) * Shape::C, h, w};
    }
};

// ConvTap: how far element i = (r, s, c) of a filter is from the beginning of the window.
template <class Shape>
struct ConvTap {
    typedef ConvGroup<Shape> G;
    __device__ inline Spot operator()(long long i) const
    {
        if (i >= G::FILTER) return nowhere();
        Digits d = digits_of<G::FILTER>(i, G::S, G::C);
        int h = (int)(d.outer * Shape::DILATION_H), w = (int)(d.middle * Shape::DILATION_W);
        return Spot{(h * Shape::W + w) * Shape::C + d.inner, h, w};
    }
};

// conv_forward: y[n,p,q,k] = Act(bias[k] + sum over r,s,c of weight[k,r,s,c] * x[n,h,w,c]) with
//   h = p*stride + r*dilation - pad, w likewise.  A block makes a tile of pixels x channels of one
//   group.  y must not be x.  Sums run over r, s, c in this order.
template <class Shape, class Tile, class Act, bool BIAS>
__global__ void conv_forward(real *y, const real *x, const real *weight, const real *bias)
{
    typedef ConvGroup<Shape> G;
    constexpr int V = G::PACK_C;
    ConvBlock block = conv_block<Tile>(G::K, Shape::GROUPS, 1);
    int first = block.group * G::K;

    // Where channels are few, it is the pixels that lie side by side.
    auto patches = load_stage<V, V != 1, Shape::H, Shape::W>(
        x + block.group * G::C, ConvWindow<Shape>{G::PIXELS}, ConvTap<Shape>());
    auto filters = load_stage<V, true, 1, 1>(weight + (long long)first * G::FILTER,
                                          MatrixSide{G::K, G::FILTER}, MatrixSide{G::FILTER, 1});
    auto pixel = [=](long long i) { return i < G::PIXELS ? i * Shape::K + first : -1; };
    auto value = [=](long long, int k, real sum) {
        return Act::forward(BIAS ? sum + bias[first + k] : sum);
    };
    auto out = store_stage<G::K>(y, pixel, value);
    tile_product<Tile>(patches, filters, out, block.row, block.column, 0, G::FILTER, false);
}

// common_divisor: the greatest of a and b.
static constexpr int common_divisor(int a, int b) { return b == 0 ? a : common_divisor(b, a % b); }

// ConvTaps: along one axis, the taps that the pixels residue + i * STRIDE of dx meet: count of the
// EXTENT there are, from first on, EVERY so many; the first meets pixel origin + i of dy, and each
// next one a pixel BACK pixels before.
template <long long STRIDE, long long DILATION, long long PAD, long long EXTENT>
struct ConvTaps {
    static constexpr int EVERY = (int)STRIDE / common_divisor(STRIDE, DILATION);
    static constexpr int BACK = (int)DILATION / common_divisor(STRIDE, DILATION);
    int residue, first, count, origin;

    __device__ inline ConvTaps(int residue) : residue(residue), first(0)
    {
        while (first < EXTENT && (residue + PAD - first * DILATION) % STRIDE != 0) first++;
        count = (int)(EXTENT - first + EVERY - 1) / EVERY;
        origin = (int)((residue + PAD - first * DILATION) / STRIDE);
    }
};

// ConvClass: the pixels of dx with one residue of h and one of w.
template <class Shape>
struct ConvClass {
    typedef ConvGroup<Shape> G;
    static constexpr long long HEIGHT = (Shape::H + Shape::STRIDE_H - 1) / Shape::STRIDE_H;
    static constexpr long long WIDTH = (Shape::W + Shape::STRIDE_W - 1) / Shape::STRIDE_W;
    static constexpr long long PIXELS = Shape::N * HEIGHT * WIDTH;
    ConvTaps<Shape::STRIDE_H, Shape::DILATION_H, Shape::PAD_TOP, Shape::R> h;
    ConvTaps<Shape::STRIDE_W, Shape::DILATION_W, Shape::PAD_LEFT, Shape::S> w;

    __device__ inline ConvClass(int i) : h(i / (int)Shape::STRIDE_W), w(i % (int)Shape::STRIDE_W) {}
    __device__ inline int depth() const { return h.count * w.count * G::K; }

    // The element of dx where pixel i of the class begins, or -1.
    __device__ inline long long pixel(long long i) const
    {
        if (i >= PIXELS) return -1;
        Digits d = digits_of<PIXELS>(i, HEIGHT, WIDTH);
        long long p = d.middle * Shape::STRIDE_H + h.residue;
        long long q = d.inner * Shape::STRIDE_W + w.residue;
        if (p >= Shape::H || q >= Shape::W) return -1;
        return ((d.outer * Shape::H + p) * Shape::W + q) * Shape::C;
    }
    // Where in dy the first tap of pixel i of the class is.
    __device__ inline Spot source(long long i) const
    {
        if (i >= PIXELS) return nowhere();
        Digits d = digits_of<PIXELS>(i, HEIGHT, WIDTH);
        int p = h.origin + d.middle, q = w.origin + d.inner;
        return Spot{((d.outer * Shape::P + p) * Shape::Q + q) * Shape::K, p, q};
    }
    // How far from there, in dy, element i = (tap r, tap s, k) is.
    __device__ inline Spot step(long long i) const
    {
        if (i >= depth()) return nowhere();
        Digits d = digits_of<G::R * G::S * G::K>(i, w.count, G::K);
        int p = (int)d.outer * -h.BACK, q = d.middle * -w.BACK;
        return Spot{(p * Shape::Q + q) * Shape::K + d.inner, p, q};
    }
    // Where in the weights the same element is.
    __device__ inline Spot weight(long long i) const
    {
        if (i >= depth()) return nowhere();
        Digits d = digits_of<G::R * G::S * G::K>(i, w.count, G::K);
        int r = h.first + (int)d.outer * h.EVERY, s = w.first + d.middle * w.EVERY;
        return Spot{(((long long)d.inner * G::R + r) * G::S + s) * G::C, 0, 0};
    }
};

// conv_dgrad: dx[n,h,w,c] = sum over r,s,k of weight[k,r,s,c] * dy[n,p,q,k] with h as above, times
//   the derivative of Act at mask [N,H,W,C], which is NULL for identity.  A block makes a tile of
//   pixels of one class x channels of one group.  dx may be mask.  Sums run over r, s, k in this
//   order.
template <class Shape, class Tile, class Act>
__global__ void conv_dgrad(real *dx, const real *dy, const real *weight, const real *mask)
{
    typedef ConvGroup<Shape> G;
    ConvBlock block = conv_block<Tile>(G::C, Shape::GROUPS, Shape::STRIDE_H * Shape::STRIDE_W);
    int first = block.group * G::C;
    ConvClass<Shape> of(block.part);

    auto slopes = load_stage<G::PACK_K, true, Shape::P, Shape::Q>(
        dy + block.group * G::K, [=](long long i) { return of.source(i); },
        [=](long long k) { return of.step(k); });
    auto filters = load_stage<G::PACK_C, false, 1, 1>(
        weight + (long long)block.group * G::K * G::FILTER, MatrixSide{G::C, 1},
        [=](long long k) { return of.weight(k); });
    auto pixel = [=](long long i) {
        long long row = of.pixel(i);
        return row < 0 ? row : row + first;
    };
    auto value = [=](long long i, int, real sum) { return through<Act>::gradient(sum, mask, i); };
    auto out = store_stage<G::C>(dx, pixel, value);
    tile_product<Tile>(slopes, filters, out, block.row, block.column, 0, of.depth(), false);
}

// conv_wgrad: dw[k,r,s,c] = sum over n,p,q of dy[n,p,q,k] * x[n,h,w,c] with h as above, and, if
//   BIAS, db[k] = sum over n,p,q of dy[n,p,q,k].  The pixels fall into SPLITS runs, each with a dw
//   and db of its own: dw [SPLITS,K,R,S,C/groups], db [SPLITS,K].  A block makes a tile of one
//   group and split; those with the first columns make db.  Sums run over n, p, q in this order.
template <class Shape, class Tile, int SPLITS, bool BIAS>
__global__ void conv_wgrad(real *dw, real *db, const real *dy, const real *x)
{
    typedef ConvGroup<Shape> G;
    constexpr long long RUN = (G::PIXELS + SPLITS - 1) / SPLITS;
    ConvBlock block = conv_block<Tile>(G::FILTER, Shape::GROUPS, SPLITS);
    long long begin = block.part * RUN, end = begin + RUN < G::PIXELS ? begin + RUN : G::PIXELS;
    long long first = block.part * Shape::K + block.group * G::K, k = block.row + threadIdx.x;

    auto slopes = load_stage<G::PACK_K, false, 1, 1>(dy + block.group * G::K, MatrixSide{G::K, 1},
                                                  MatrixSide{end, Shape::K});
    auto taps = load_stage<G::PACK_C, false, Shape::H, Shape::W>(
        x + block.group * G::C, ConvTap<Shape>(), ConvWindow<Shape>{end});
    auto filter = [=](long long i) { return i < G::K ? (first + i) * G::FILTER : -1; };
    auto value = [](long long, int, real sum) { return sum; };
    bool sums = BIAS && block.column == 0;
    auto out = store_stage<G::FILTER>(dw, filter, value);
    real sum = tile_product<Tile>(slopes, taps, out, block.row, block.column, begin, end, sums);
    if (sums && threadIdx.x < Tile::ROWS && k < G::K) db[first + k] = sum;
}
