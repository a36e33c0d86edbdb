// A convolution and the pool behind it in one launch: the map between them is nowhere.
//
// The rows of a block's tile are the pixels of COUNT patches, which cover BLOCK_P x BLOCK_Q windows
// of the pool each.  Where windows do not overlap a patch is one window, so no pixel is computed
// twice; where they do, patches are larger and share their edges.  Pixels of a patch that lie
// outside of the map are rows of which nothing is read.
#pragma once
#include "../support/gemm/pool.cuh"
#include "conv.cuh"

// PoolOf: the shape of the pool after a convolution: P x Q windows of R x S over its map.
template <class Shape>
struct PoolOf {
    static constexpr long long N = Shape::N, H = Shape::P, W = Shape::Q, C = Shape::K;
    static constexpr long long P = Shape::POOL_P, Q = Shape::POOL_Q;
    static constexpr long long R = Shape::POOL_R, S = Shape::POOL_S;
    static constexpr long long STRIDE_H = Shape::POOL_STRIDE_H, STRIDE_W = Shape::POOL_STRIDE_W;
    static constexpr long long PAD_TOP = Shape::POOL_PAD_TOP, PAD_LEFT = Shape::POOL_PAD_LEFT;
    static constexpr long long PAD_BOTTOM = Shape::PAD_BOTTOM;
    static constexpr long long PAD_RIGHT = Shape::PAD_RIGHT;
    static constexpr long long COUNT_PADDING = Shape::COUNT_PADDING;
};

// Patch: the windows of an image fall into patches; number i has image n, first window p, q and
// first pixel h, w.
template <class Shape>
struct Patch {
    typedef PoolOf<Shape> Pool;
    static constexpr int HIGH = (int)((Shape::BLOCK_P - 1) * Pool::STRIDE_H + Pool::R);
    static constexpr int WIDE = (int)((Shape::BLOCK_Q - 1) * Pool::STRIDE_W + Pool::S);
    static constexpr int PIXELS = HIGH * WIDE, WINDOWS = (int)(Shape::BLOCK_P * Shape::BLOCK_Q);
    static constexpr int DOWN = (int)((Pool::P + Shape::BLOCK_P - 1) / Shape::BLOCK_P);
    static constexpr int ACROSS = (int)((Pool::Q + Shape::BLOCK_Q - 1) / Shape::BLOCK_Q);
    long long i, n = i / ACROSS / DOWN;
    int p = (int)(i / ACROSS % DOWN * Shape::BLOCK_P), q = (int)(i % ACROSS * Shape::BLOCK_Q);
    int h = (int)(p * Pool::STRIDE_H - Pool::PAD_TOP);
    int w = (int)(q * Pool::STRIDE_W - Pool::PAD_LEFT);
};

// PatchIndex: the windows in x that give the pixels of the patches from `first` on, in order.
template <class Shape>
struct PatchIndex {
    long long first;
    __device__ Offset2d operator()(long long i) const
    {
        typedef Patch<Shape> P;
        const P patch = {first + (int)i / P::PIXELS};
        const int pixel = (int)i % P::PIXELS;
        const int p = patch.h + pixel / P::WIDE, q = patch.w + pixel % P::WIDE;
        if (i >= Shape::COUNT * P::PIXELS || patch.n >= Shape::N)
            return {0, -(1 << 29), 0};  // in no map, whatever is added
        const int h = (int)(p * Shape::STRIDE_H - Shape::PAD_TOP);
        const int w = (int)(q * Shape::STRIDE_W - Shape::PAD_LEFT);
        return {((patch.n * Shape::H + h) * Shape::W + w) * Shape::C, h, w};
    }
};

// conv_pool_forward: y = Act(Pool(conv)), and the index if Pool keeps one; sums as in conv_forward.
// A block has the windows of COUNT patches x k of a group, a thread a window and the channels of a
// word of the index.  y must not be x.
template <class Shape, class Tile, bool BIAS, class Pool, class Act, class X = const real *,
          class Y = real *>
__global__ void conv_pool_forward(Y y, typename Pool::Word *index, X x, const real *weight,
                                  const real *bias)
{
    typedef ConvGroup<Shape, Tile> G;
    typedef Patch<Shape> P;
    constexpr int PART = 4 * Tile::WIDE, WORDS = PART / Pool::EACH;     // columns at a time
    constexpr int RUN = Tile::template RUN<4>;
    static_assert(Shape::COUNT * P::PIXELS <= Tile::ROWS, "patches fill a tile at most");
    __shared__ union Shared {
        typename Tile::SharedTiles tiles;
        alignas(32) real map[Tile::ROWS][PART];
    } shared;
    const ConvBlock<Tile, G::K, Shape::GROUPS, 1> at;
    const struct { long long row; int column; } block = {0, at.column};
    const int first = at.group * G::K;
    const long long patches = at.row / Tile::ROWS * Shape::COUNT;
    const real *const map = &shared.map[0][0];

    TileLoader<Tile, Tile::ROWS, G::VEC_C, G::VEC_C != 1, X, PatchIndex<Shape>> pixels = {
        x, at.group * G::C, Shape::H, Shape::W, {patches}, G::taps()};
    TileLoader<Tile, Tile::COLUMNS, G::VEC_C, true> filters = {
        weight, (long long)first * G::FILTER, 1, 1, {G::K, G::FILTER}, {G::FILTER, 1}};
    real sum[Tile::ROWS_EACH][Tile::COLUMNS_EACH] = {};
    Tile::sums(shared.tiles, pixels, filters, block, 0, G::FILTER, false, sum);

    for (int part = 0; part < Tile::COLUMNS_EACH; part += 4) {
        __syncthreads();                // the tiles have been read
        for (int j = 0; j < 4; j += RUN) {
            Vec<RUN> add = {};
            for (int r = 0; r < RUN; r++) {
                const int k = at.column + Tile::column(part + j + r);
                if (BIAS && k < G::K) add.at[r] = bias[first + k];
            }
            for (int i = 0; i < Tile::ROWS_EACH; i++) {
                Vec<RUN> sums;
                for (int r = 0; r < RUN; r++)
                    sums.at[r] = BIAS ? sum[i][part + j + r] + add.at[r] : sum[i][part + j + r];
                store_shared(&shared.map[Tile::row(i)][Tile::column(j)], sums);
            }
        }
        __syncthreads();
        for (int i = (int)threadIdx.x; i < Shape::COUNT * P::WINDOWS * WORDS; i += Tile::THREADS) {
            const int column = i % WORDS * Pool::EACH, window = i / WORDS % P::WINDOWS;
            const int k = at.column + part * Tile::WIDE + column, own = i / WORDS / P::WINDOWS;
            const P patch = {patches + own};
            const int p = patch.p + window / (int)Shape::BLOCK_Q;
            const int q = patch.q + window % (int)Shape::BLOCK_Q;
            if (k >= G::K || patch.n >= Shape::N || p >= Shape::POOL_P || q >= Shape::POOL_Q)
                continue;
            auto place = [=](int h, int w) {
                return (own * P::PIXELS + (h - patch.h) * P::WIDE + w - patch.w) * PART + column;
            };
            pool_window<PoolOf<Shape>, Pool, Act>(
                y, index, (patch.n * Shape::POOL_P + p) * Shape::POOL_Q + q, first + k,
                (int)(p * Shape::POOL_STRIDE_H - Shape::POOL_PAD_TOP),
                (int)(q * Shape::POOL_STRIDE_W - Shape::POOL_PAD_LEFT), map, place);
        }
    }
}
