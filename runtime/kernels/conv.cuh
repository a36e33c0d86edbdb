// Convolution of maps [N,H,W,C] with weights [K,R,S,C/groups], and its two gradients.  Each is one
// product whose operands are read straight from the maps (nothing is unrolled in memory):
//
//                rows                columns        summed over       operands
//   forward      pixels n,p,q of y   k of a group   r, s, c           x, weight
//   dgrad        pixels n,h,w of dx  c of a group   r, s, k           dy, weight
//   wgrad        k of a group        r, s, c        pixels n,p,q      dy, x
//
// The data gradient of a convolution with a stride is in conv_strided.cuh.
//
// Blocks are numbered with column tiles fastest, then groups, then classes or splits, then rows.
#pragma once
#include <type_traits>
#include "../support/vec/identity.cuh"
#include "../support/gemm/product.cuh"
#include "../support/gemm/taps.cuh"
#include "../support/gemm/window.cuh"

// ConvGroup: channels of a group, weights of a filter, vector widths, pixels of y.
template <class Shape, class Tile>
struct ConvGroup {
    static constexpr int C = (int)(Shape::C / Shape::GROUPS), K = (int)(Shape::K / Shape::GROUPS);
    static constexpr int FILTER = (int)(Shape::R * Shape::S) * C;
    static constexpr int VEC_C = Tile::template VEC<C>, VEC_K = Tile::template VEC<K>;
    static constexpr long long PIXELS = Shape::N * Shape::P * Shape::Q, LIMIT = 1LL << 30;
    static constexpr bool SMALL = Shape::N * Shape::H * Shape::W * Shape::C < LIMIT &&
                                  PIXELS * Shape::K < LIMIT && Shape::K * FILTER < LIMIT;
    // Pixels and filters have too few elements for vectors.
    static constexpr bool SINGLE = VEC_C == 1;
    template <int LANES, bool ALONG, class X>
    using Patches = std::conditional_t<SINGLE && SMALL && Shape::R + Shape::S < 32 &&
                                           std::is_pointer_v<MapOf<X>>,
                                       TapLoader<Shape, Tile, LANES, ALONG, X>,
                                       TileLoader<Tile, LANES, VEC_C, ALONG, X>>;
    template <class X>
    using Filters = TileLoader<Tile, Tile::COLUMNS, SINGLE ? Tile::template VEC<8> : VEC_C, true, X,
                               SINGLE>;
    // The offset of each weight of a filter from the beginning of the window.
    static __device__ Im2colIndex taps()
    {
        return {FILTER, 0, SMALL, {Shape::R, 0, Shape::DILATION_H, Shape::W * Shape::C},
                {Shape::S, 0, Shape::DILATION_W, Shape::C}, C};
    }
};

// ConvBlock: the tile, group and part (class or split) of the block.
template <class Tile, long long COLUMNS, long long GROUPS, long long PARTS>
struct ConvBlock {
    static constexpr int TILES = (COLUMNS + Tile::COLUMNS - 1) / Tile::COLUMNS;
    int i = (int)blockIdx.x, column = i % TILES * Tile::COLUMNS, group = i / TILES % (int)GROUPS;
    int part = i / TILES / (int)GROUPS % (int)PARTS;
    long long row = (long long)(i / TILES / (int)(GROUPS * PARTS)) * Tile::ROWS;
};

// conv_forward: y[n,p,q,k] = Act(bias[k] + the sum over r,s,c of weight[k,r,s,c] * x[n,h,w,c] in
// order), h = p*stride + r*dilation - pad, w likewise.  A block: a tile of pixels x k of a group.
template <class Shape, class Tile, class Act, bool BIAS, class X = const real *, class Y = real *,
          class Weights = const real *>
__global__ void __launch_bounds__(Tile::THREADS, Tile::template blocks<X, Weights>())
    conv_forward(Y y, X x, Weights weight, const real *bias)
{
    typedef ConvGroup<Shape, Tile> G;
    const ConvBlock<Tile, G::K, Shape::GROUPS, 1> block;
    const int first = block.group * G::K;
    constexpr bool FULL = G::PIXELS % Tile::ROWS == 0;
    typename G::template Patches<Tile::ROWS, true, X> patches = {
        x, block.group * G::C, Shape::H, Shape::W, G::taps()};
    typename G::template Filters<Weights> filters = {
        weight, (long long)first * G::FILTER, 1, 1, {G::FILTER, 1}};
    __shared__ typename Tile::SharedTiles tiles;
    real sum[Tile::ROWS_EACH][Tile::COLUMNS_EACH] = {};
    block_sums<Tile>(tiles, patches, block.row, windows<Shape>(G::PIXELS, 1), filters, block.column,
                     Im2colIndex{G::K, G::FILTER}, 0, G::FILTER, sum);
    typedef std::conditional_t<G::SMALL, unsigned, long long> Pixel;
    auto place = [=](Pixel i) { return i * (Pixel)Shape::K + first; };
    auto make = [=](auto &run, long long, int k) {
        constexpr int V = sizeof run / sizeof(real);
        Vec<V> add = {};
        if (BIAS) add = load_vec<V>(bias, first + k);
        UNROLL for (int j = 0; j < V; j++)
            run.at[j] = Act::forward(BIAS ? run.at[j] + add.at[j] : run.at[j]);
    };
    store_runs<Tile, G::K, FULL>(y, tiles, sum, block, G::PIXELS, place, make);
}

// conv_dgrad: dx[n,h,w,c] = sum over r,s,k of weight[k,r,s,c] * dy[n,p,q,k] in order, stride 1,
// times Act's derivative at mask, which may be dx.  A block: a tile of pixels x c of a group.
template <class Shape, class Tile, class Act, class DY = const real *, class Weights = const real *,
          class Mask = const real *, class DX = real *>
__global__ void __launch_bounds__(Tile::THREADS, Tile::template blocks<DY, Weights>())
    conv_dgrad(DX dx, DY dy, Weights weight, Mask mask)
{
    typedef ConvGroup<Shape, Tile> G;
    constexpr int C = G::C, K = G::K, R = (int)Shape::R, S = (int)Shape::S, DEPTH = R * S * K;
    constexpr long long PIXELS = Shape::N * Shape::H * Shape::W, LINE = Shape::Q * Shape::K;
    constexpr bool FULL = PIXELS % Tile::ROWS == 0;
    const ConvBlock<Tile, C, Shape::GROUPS, 1> block;
    const int first = block.group * C;
    TileLoader<Tile, Tile::ROWS, G::VEC_K, true, DY> slopes = {
        dy, block.group * K, Shape::P, Shape::Q,
        {DEPTH, 0, G::SMALL, {R, 0, -Shape::DILATION_H, LINE}, {S, 0, -Shape::DILATION_W, Shape::K},
         K}};
    TileLoader<Tile, Tile::COLUMNS, G::VEC_C, false, Weights> filters = {
        weight, (long long)block.group * K * G::FILTER, R, S,
        {DEPTH, 0, G::SMALL, {R, 0, 1, S * C}, {S, 0, 1, C}, K, G::FILTER}};
    __shared__ typename Tile::SharedTiles tiles;
    real sum[Tile::ROWS_EACH][Tile::COLUMNS_EACH] = {};
    const Im2colIndex pixels = {PIXELS, Shape::P * LINE, G::SMALL,
                                {Shape::H, Shape::PAD_TOP, 1, LINE},
                                {Shape::W, Shape::PAD_LEFT, 1, Shape::K}};
    block_sums<Tile>(tiles, slopes, block.row, pixels, filters, block.column, Im2colIndex{C, 1}, 0,
                     DEPTH, sum);
    typedef std::conditional_t<G::SMALL, unsigned, long long> Pixel;
    auto place = [=](Pixel i) { return i * (Pixel)Shape::C + first; };
    auto make = [=](auto &run, long long at, int c) {
        constexpr int V = sizeof run / sizeof(real);
        const auto own = load_lazy<V>(mask, at, first + c);
        UNROLL for (int j = 0; j < V; j++) run.at[j] = Act::gradient(run.at[j], own, at + j);
    };
    store_runs<Tile, C, FULL>(dx, tiles, sum, block, PIXELS, place, make);
}

// conv_wgrad: dw[split,k,r,s,c] = the sum of dy[n,p,q,k] * x[n,h,w,c] over the split's n,p,q in
// order and, if BIAS, db[split,k] that of dy.  A block: a tile of k x r,s,c of a group and split.
template <class Shape, class Tile, int SPLITS, bool BIAS, class Result, class DY = const real *,
          class X = const real *>
__global__ void __launch_bounds__(Tile::THREADS, Tile::template blocks<DY, X>())
    conv_wgrad(Result dw, Result db, DY dy, X x)
{
    typedef ConvGroup<Shape, Tile> G;
    constexpr long long RUN = (G::PIXELS + SPLITS - 1) / SPLITS;
    const ConvBlock<Tile, G::FILTER, Shape::GROUPS, SPLITS> block;
    typedef std::conditional_t<G::SMALL, int, long long> Pixel;
    const Pixel begin = (Pixel)(block.part * RUN), end = (Pixel)min(begin + RUN, G::PIXELS);
    const long long first = block.part * Shape::K + block.group * G::K;
    const long long k = block.row + Tile::summed_row();
    const bool sums = BIAS && block.column == 0;
    TileLoader<Tile, Tile::ROWS, G::VEC_K, false, DY> slopes = {
        dy, block.group * G::K, 1, 1, {end, Shape::K, G::SMALL}};
    typename G::template Patches<Tile::COLUMNS, false, X> patches = {
        x, block.group * G::C, Shape::H, Shape::W, windows<Shape>(end, 1)};
    __shared__ typename Tile::SharedTiles tiles;
    real sum[Tile::ROWS_EACH][Tile::COLUMNS_EACH] = {};
    const real of_row =
        block_sums<Tile>(tiles, slopes, block.row, Im2colIndex{G::K, 0, true, {}, {}, G::K},
                         patches, block.column, G::taps(), begin, end, sum, sums);
    auto place = [=](long long i) { return (first + i) * G::FILTER; };
    each_run<Tile, G::FILTER, false>(sum, block, G::K, place, [=](auto &run, long long at, int) {
        store_vec(dw, at, run);
    });
    if (sums && k < G::K) db[first + k] = of_row;
}
