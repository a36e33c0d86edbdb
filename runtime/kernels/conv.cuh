// Convolution of maps [N,H,W,C] with weights [K,R,S,C/groups], and its two gradients, each as one
// product whose operands are read straight from the maps (nothing is unrolled in memory):
//
//                rows                columns        reduction         load stages
//   forward      pixels n,p,q of y   k of a group   r, s, c           LoadPatches, LoadFilters
//   dgrad        pixels n,h,w of dx  c of a group   taps r, s, and k  LoadSources, LoadFilterColumns
//   wgrad        k of a group        r, s, c        pixels n,p,q      LoadSlopes, LoadTaps
//
// With a stride, a pixel of dx meets only the taps r with (h + pad - r*dilation) % stride == 0.  They
// are the same for all h of one h % stride: so dx falls into stride_h * stride_w classes of pixels,
// and each is a dense convolution with every few taps of the weights.  A block works in one class.
//
// Blocks are numbered with the column tiles fastest, then groups, then splits or classes, then rows.
#pragma once
#include "../support/identity.cuh"
#include "../support/product.cuh"

// ConvFilter: what the three products call the parts of a Shape.
template <class Shape>
struct ConvFilter {
    static constexpr int C = (int)(Shape::C / Shape::GROUPS), K = (int)(Shape::K / Shape::GROUPS);
    static constexpr int R = (int)Shape::R, S = (int)Shape::S, DEPTH = R * S * C;
    static constexpr long long PIXELS = Shape::N * Shape::P * Shape::Q;
};

// conv_window: where in x the window of pixel i of y begins.
template <class Shape>
static __device__ inline Spot conv_window(long long i)
{
    Digits d = digits<ConvFilter<Shape>::PIXELS>(i, Shape::P, Shape::Q);
    int h = (int)(d.middle * Shape::STRIDE_H - Shape::PAD_TOP);
    int w = (int)(d.inner * Shape::STRIDE_W - Shape::PAD_LEFT);
    return Spot{((d.outer * Shape::H + h) * Shape::W + w) * Shape::C, h, w};
}

// conv_tap: how far element i = (r, s, c) of a filter is from the beginning of the window.
template <class Shape>
static __device__ inline Spot conv_tap(long long i)
{
    Digits d = digits<ConvFilter<Shape>::DEPTH>(i, ConvFilter<Shape>::S, ConvFilter<Shape>::C);
    int h = (int)(d.outer * Shape::DILATION_H), w = (int)(d.middle * Shape::DILATION_W);
    return Spot{(h * Shape::W + w) * Shape::C + d.inner, h, w};
}

// LoadPatches: x as a matrix [pixels of y, r s c].
template <class Shape>
struct LoadPatches {
    typedef ConvFilter<Shape> F;
    static constexpr int VECTOR = F::C % 4 == 0 ? 4 : 1;
    static constexpr bool ALONG_STEPS = VECTOR > 1;  // few channels: neighbours are along q
    static constexpr unsigned H = Shape::H, W = Shape::W;
    const real *x;  // at the group's first channel

    __device__ Spot lane(long long i) const { return i < F::PIXELS ? conv_window<Shape>(i) : nowhere(); }
    __device__ Spot step(long long k) const { return k < F::DEPTH ? conv_tap<Shape>(k) : nowhere(); }
    __device__ Pack<VECTOR> read(long long i) const { return *(const Pack<VECTOR> *)(x + i); }
};

// LoadFilters: the group's weights as a matrix [k, r s c].
template <class Shape>
struct LoadFilters {
    typedef ConvFilter<Shape> F;
    static constexpr int VECTOR = F::C % 4 == 0 ? 4 : 1;
    static constexpr bool ALONG_STEPS = true;
    static constexpr unsigned H = F::K, W = 1;
    const real *weight;  // at the group's first filter

    __device__ Spot lane(long long i) const { return Spot{i * F::DEPTH, (int)i, 0}; }
    __device__ Spot step(long long k) const { return k < F::DEPTH ? Spot{k, 0, 0} : nowhere(); }
    __device__ Pack<VECTOR> read(long long i) const { return *(const Pack<VECTOR> *)(weight + i); }
};

// StoreOutputs: the store stage of forward: bias, then the activation.
template <class Shape, class Act, bool BIAS>
struct StoreOutputs {
    static constexpr int COLUMNS = ConvFilter<Shape>::K;
    real *to;  // y at the group's first channel
    const real *bias;

    __device__ long long row(long long i) const
    {
        return i < ConvFilter<Shape>::PIXELS ? i * Shape::K : -1;
    }
    __device__ real value(long long, int k, real sum) const
    {
        return Act::forward(BIAS ? sum + bias[k] : sum);
    }
    template <class Rows>
    __device__ void watch(const Rows &) const {}
};

// conv_forward: y[n,p,q,k] = act(bias[k] + sum over r,s,c of weight[k,r,s,c] * x[n,h,w,c]) with
//   h = p*stride + r*dilation - pad.  A block makes a tile of pixels x channels of one group.  y must
//   not be x.  Sums run over r, s, c in this order.
template <class Shape, class Tile, class Act, bool BIAS>
__global__ void conv_forward(real *y, const real *x, const real *weight, const real *bias)
{
    typedef ConvFilter<Shape> F;
    constexpr int COLUMN_TILES = (F::K + Tile::COLUMNS - 1) / Tile::COLUMNS;
    long long block = blockIdx.x / COLUMN_TILES;
    int column = (int)(blockIdx.x % COLUMN_TILES) * Tile::COLUMNS;
    int group = (int)(block % Shape::GROUPS);

    LoadPatches<Shape> patches = {x + group * F::C};
    LoadFilters<Shape> filters = {weight + (long long)group * F::K * F::DEPTH};
    StoreOutputs<Shape, Act, BIAS> out = {y + group * F::K, BIAS ? bias + group * F::K : bias};
    product<Tile>(patches, filters, out, block / Shape::GROUPS * Tile::ROWS, column, 0, F::DEPTH);
}

// common_divisor: the greatest.
static constexpr int common_divisor(long long a, long long b)
{
    return b == 0 ? (int)a : common_divisor(b, a % b);
}

// ClassTaps: along one axis, the taps that pixels i * stride + residue of dx meet: count of them, from
// first on, every few; the first one met pixel origin + i of dy.
struct ClassTaps {
    int residue, first, count, origin;
};

// class_taps: those of a residue, for a filter of extent taps of which every few are met.
static __device__ inline ClassTaps class_taps(int residue, int extent, int every, int stride,
                                              int dilation, int pad)
{
    int first = 0;
    while (first < extent && (residue + pad - first * dilation) % stride != 0) first++;
    int count = (extent - first + every - 1) / every;
    return ClassTaps{residue, first, count, (residue + pad - first * dilation) / stride};
}

// ConvClass: the pixels of dx with one residue of h and one of w, and the taps they meet.
template <class Shape>
struct ConvClass {
    typedef ConvFilter<Shape> F;
    static constexpr int STRIDE_H = (int)Shape::STRIDE_H, DILATION_H = (int)Shape::DILATION_H;
    static constexpr int STRIDE_W = (int)Shape::STRIDE_W, DILATION_W = (int)Shape::DILATION_W;
    static constexpr int EVERY_H = STRIDE_H / common_divisor(STRIDE_H, DILATION_H);
    static constexpr int EVERY_W = STRIDE_W / common_divisor(STRIDE_W, DILATION_W);
    static constexpr int BACK_H = DILATION_H * EVERY_H / STRIDE_H;  // in dy, from tap to tap
    static constexpr int BACK_W = DILATION_W * EVERY_W / STRIDE_W;
    static constexpr long long HEIGHT = (Shape::H + STRIDE_H - 1) / STRIDE_H;
    static constexpr long long WIDTH = (Shape::W + STRIDE_W - 1) / STRIDE_W;
    static constexpr long long PIXELS = Shape::N * HEIGHT * WIDTH;
    ClassTaps h, w;

    __device__ ConvClass(int i)
        : h(class_taps(i / STRIDE_W, F::R, EVERY_H, STRIDE_H, DILATION_H, (int)Shape::PAD_TOP)),
          w(class_taps(i % STRIDE_W, F::S, EVERY_W, STRIDE_W, DILATION_W, (int)Shape::PAD_LEFT))
    {
    }
    __device__ int depth() const { return h.count * w.count * F::K; }
};

// LoadSources: dy as a matrix [pixels of a class of dx, taps and k].
template <class Shape>
struct LoadSources {
    typedef ConvFilter<Shape> F;
    typedef ConvClass<Shape> L;
    static constexpr int VECTOR = F::K % 4 == 0 ? 4 : 1;
    static constexpr bool ALONG_STEPS = true;
    static constexpr unsigned H = Shape::P, W = Shape::Q;
    const real *dy;  // at the group's first channel
    L of;

    __device__ Spot lane(long long i) const
    {
        if (i >= L::PIXELS) return nowhere();
        Digits d = digits<L::PIXELS>(i, L::HEIGHT, L::WIDTH);
        int p = of.h.origin + d.middle, q = of.w.origin + d.inner;
        return Spot{((d.outer * Shape::P + p) * Shape::Q + q) * Shape::K, p, q};
    }
    __device__ Spot step(long long k) const
    {
        if (k >= of.depth()) return nowhere();
        Digits d = digits<F::R * F::S * F::K>(k, of.w.count, F::K);
        int p = (int)d.outer * -L::BACK_H, q = d.middle * -L::BACK_W;
        return Spot{(p * Shape::Q + q) * Shape::K + d.inner, p, q};
    }
    __device__ Pack<VECTOR> read(long long i) const { return *(const Pack<VECTOR> *)(dy + i); }
};

// LoadFilterColumns: the group's weights as a matrix [c, taps of a class and k].
template <class Shape>
struct LoadFilterColumns {
    typedef ConvFilter<Shape> F;
    typedef ConvClass<Shape> L;
    static constexpr int VECTOR = F::C % 4 == 0 ? 4 : 1;
    static constexpr bool ALONG_STEPS = false;
    static constexpr unsigned H = F::C, W = 1;
    const real *weight;  // at the group's first filter
    L of;

    __device__ Spot lane(long long i) const { return Spot{i, (int)i, 0}; }
    __device__ Spot step(long long k) const
    {
        if (k >= of.depth()) return nowhere();
        Digits d = digits<F::R * F::S * F::K>(k, of.w.count, F::K);
        int r = of.h.first + (int)d.outer * L::EVERY_H, s = of.w.first + d.middle * L::EVERY_W;
        return Spot{(((long long)d.inner * F::R + r) * F::S + s) * F::C, 0, 0};
    }
    __device__ Pack<VECTOR> read(long long i) const { return *(const Pack<VECTOR> *)(weight + i); }
};

// StoreInputs: the store stage of dgrad: the derivative of the activation that made x.
template <class Shape, class Act>
struct StoreInputs {
    typedef ConvClass<Shape> L;
    static constexpr int COLUMNS = ConvFilter<Shape>::C;
    real *to;          // dx
    const real *mask;  // x, or NULL; may be dx
    int channel;       // the group's first
    L of;

    __device__ long long row(long long i) const
    {
        Digits d = digits<L::PIXELS>(i < L::PIXELS ? i : 0, L::HEIGHT, L::WIDTH);
        int h = d.middle * L::STRIDE_H + of.h.residue, w = d.inner * L::STRIDE_W + of.w.residue;
        if (i >= L::PIXELS || h >= Shape::H || w >= Shape::W) return -1;
        return ((d.outer * Shape::H + h) * Shape::W + w) * Shape::C + channel;
    }
    __device__ real value(long long row, int c, real sum) const
    {
        return through<Act>::gradient(sum, mask, row + c);
    }
    template <class Rows>
    __device__ void watch(const Rows &) const {}
};

// conv_dgrad: dx[n,h,w,c] = sum over r,s,k of weight[k,r,s,c] * dy[n,p,q,k] where h = p*stride +
//   r*dilation - pad, times the derivative of Act at mask [N,H,W,C].  A block makes a tile of pixels of
//   one class x channels of one group.  dx may be mask.  Sums run over r, s, k in this order.
template <class Shape, class Tile, class Act>
__global__ void conv_dgrad(real *dx, const real *dy, const real *weight, const real *mask)
{
    typedef ConvFilter<Shape> F;
    typedef ConvClass<Shape> L;
    constexpr int COLUMN_TILES = (F::C + Tile::COLUMNS - 1) / Tile::COLUMNS;
    constexpr int CLASSES = L::STRIDE_H * L::STRIDE_W;
    int column = (int)(blockIdx.x % COLUMN_TILES) * Tile::COLUMNS;
    long long block = blockIdx.x / COLUMN_TILES;
    int group = (int)(block % Shape::GROUPS);
    block /= Shape::GROUPS;

    L of((int)(block % CLASSES));
    LoadSources<Shape> sources = {dy + group * F::K, of};
    LoadFilterColumns<Shape> filters = {weight + (long long)group * F::K * F::DEPTH, of};
    StoreInputs<Shape, Act> out = {dx, mask, group * F::C, of};
    product<Tile>(sources, filters, out, block / CLASSES * Tile::ROWS, column, 0, of.depth());
}

// LoadSlopes: dy as a matrix [k of a group, pixels].
template <class Shape>
struct LoadSlopes {
    static constexpr int VECTOR = ConvFilter<Shape>::K % 4 == 0 ? 4 : 1;
    static constexpr bool ALONG_STEPS = false;
    static constexpr unsigned H = ConvFilter<Shape>::K, W = 1;
    const real *dy;  // at the group's first channel
    long long end;   // of the split's pixels

    __device__ Spot lane(long long i) const { return Spot{i, (int)i, 0}; }
    __device__ Spot step(long long k) const { return k < end ? Spot{k * Shape::K, 0, 0} : nowhere(); }
    __device__ Pack<VECTOR> read(long long i) const { return *(const Pack<VECTOR> *)(dy + i); }
};

// LoadTaps: x as a matrix [r s c, pixels of y].
template <class Shape>
struct LoadTaps {
    typedef ConvFilter<Shape> F;
    static constexpr int VECTOR = F::C % 4 == 0 ? 4 : 1;
    static constexpr bool ALONG_STEPS = false;
    static constexpr unsigned H = Shape::H, W = Shape::W;
    const real *x;  // at the group's first channel
    long long end;  // of the split's pixels

    __device__ Spot lane(long long i) const { return i < F::DEPTH ? conv_tap<Shape>(i) : nowhere(); }
    __device__ Spot step(long long k) const { return k < end ? conv_window<Shape>(k) : nowhere(); }
    __device__ Pack<VECTOR> read(long long i) const { return *(const Pack<VECTOR> *)(x + i); }
};

// StoreWeights: the store stage of wgrad.  Where it is told to, it sums dy over the pixels, for the bias.
template <class Shape, bool BIAS>
struct StoreWeights {
    static constexpr int COLUMNS = ConvFilter<Shape>::DEPTH;
    real *to;  // dw of the split at the group's first filter
    bool sums;
    real sum;  // of row threadIdx.x of the block's tile

    __device__ long long row(long long k) const { return k < ConvFilter<Shape>::K ? k * COLUMNS : -1; }
    __device__ real value(long long, int, real sum) const { return sum; }
    template <int DEPTH, int WIDTH>
    __device__ void watch(const real (&rows)[DEPTH][WIDTH])
    {
        if (!BIAS || !sums) return;
        for (int k = 0; k < DEPTH; k++) sum += rows[k][threadIdx.x];
    }
};

// conv_wgrad: dw[k,r,s,c] = sum over n,p,q of dy[n,p,q,k] * x[n,h,w,c] with h as above, and, if BIAS,
//   db[k] = sum over n,p,q of dy[n,p,q,k].  The pixels fall into SPLITS runs, each with a dw and db of
//   its own: dw [SPLITS,K,R,S,C/groups], db [SPLITS,K].  A block makes a tile of one group and split;
//   those with the first columns make db.  Sums run over n, p, q in this order.
template <class Shape, class Tile, int SPLITS, bool BIAS>
__global__ void conv_wgrad(real *dw, real *db, const real *dy, const real *x)
{
    typedef ConvFilter<Shape> F;
    constexpr int COLUMN_TILES = (F::DEPTH + Tile::COLUMNS - 1) / Tile::COLUMNS;
    constexpr long long RUN = (F::PIXELS + SPLITS - 1) / SPLITS;
    int column = (int)(blockIdx.x % COLUMN_TILES) * Tile::COLUMNS;
    long long block = blockIdx.x / COLUMN_TILES;
    int group = (int)(block % Shape::GROUPS);
    block /= Shape::GROUPS;
    long long split = block % SPLITS, first = block / SPLITS * Tile::ROWS;
    long long begin = split * RUN, end = begin + RUN < F::PIXELS ? begin + RUN : F::PIXELS;
    long long filter = split * Shape::K + group * F::K, k = first + threadIdx.x;

    bool sums = BIAS && column == 0 && threadIdx.x < Tile::ROWS;
    LoadSlopes<Shape> slopes = {dy + group * F::K, end};
    LoadTaps<Shape> taps = {x + group * F::C, end};
    StoreWeights<Shape, BIAS> out = {dw + filter * F::DEPTH, sums, 0};
    product<Tile>(slopes, taps, out, first, column, begin, end);
    if (sums && k < F::K) db[filter + k] = out.sum;
}
