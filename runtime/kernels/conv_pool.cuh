// A convolution and the pool after it in one launch: the map between them is not stored.
//
// The rows of a block's tile are the pixels of COUNT patches, which cover DOWN x ACROSS windows
// of the pool each.  If windows do not overlap, a patch is one window, so no pixel is computed
// twice; otherwise patches are larger and share their edges.  No element is read for pixels of a
// patch outside the map.
#pragma once
#include "../support/gemm/pool.cuh"
#include "conv.cuh"

// Patch: DOWN x ACROSS windows of a pool and the pixels under them, of which a tile has COUNT.
// Number i of all has image n, first window p, q and first pixel h, w.
template <class Pooled, int DOWN_EACH, int ACROSS_EACH, int COUNT_EACH>
struct Patch {
    typedef Pooled Shape;
    static constexpr int DOWN = DOWN_EACH, ACROSS = ACROSS_EACH, COUNT = COUNT_EACH;
    static constexpr int WIDE = (int)((ACROSS - 1) * Pooled::STRIDE_W + Pooled::S);
    static constexpr int AREA = (int)((DOWN - 1) * Pooled::STRIDE_H + Pooled::R) * WIDE;
    static constexpr int PIXELS = COUNT * AREA;
    static constexpr int EACH = DOWN * ACROSS, WINDOWS = COUNT * EACH;
    static constexpr int ROWS = (int)((Pooled::P + DOWN - 1) / DOWN);
    static constexpr int COLUMNS = (int)((Pooled::Q + ACROSS - 1) / ACROSS);
    long long i, n = i / COLUMNS / ROWS;
    int p = (int)(i / COLUMNS % ROWS * DOWN), q = (int)(i % COLUMNS * ACROSS);
    int h = (int)(p * Pooled::STRIDE_H - Pooled::PAD_TOP);
    int w = (int)(q * Pooled::STRIDE_W - Pooled::PAD_LEFT);
};

// conv_pool_forward: y = Act(Pool(Own(conv))), and the index if Pool keeps one; sums as in
// conv_forward.
// A block has the windows of a tile of Patches x k of a group.  A thread has a window and the
// channels of a word of the index.  Map y must not be x.  PITCH and SKEW avoid bank conflicts.
template <class Shape, class Patches, class Tile, bool BIAS, class Pool, class Act,
          class X = const real *, class Y = real *, class Weights = const real *,
          class Own = identity>
__global__ void conv_pool_forward(Y y, typename Pool::Word *index, X x, Weights weight,
                                  const real *bias)
{
    typedef ConvGroup<Shape, Tile> G;
    typedef typename Patches::Shape Pooled;
    constexpr int PART = 4 * Tile::WIDE, WORDS = PART / Pool::EACH;     // columns at a time
    constexpr int RUN = Tile::template RUN<4>, PITCH = PART + 8;
    constexpr int SKEW = PART == 16 && Patches::AREA == 4 ? 16 : 0;     // between windows
    static_assert(Patches::PIXELS <= Tile::ROWS, "patches fill a tile at most");
    __shared__ union Shared {
        typename Tile::SharedTiles tiles;
        alignas(32) real map[Tile::ROWS * PITCH + Tile::ROWS / 4 * SKEW];
    } shared;
    const ConvBlock<Tile, G::K, Shape::GROUPS, 1> block;
    const int first = block.group * G::K;
    const long long patches = block.row / Tile::ROWS * Patches::COUNT;
    // The window in x that gives a pixel of the patches.
    const auto pixel = [=](long long i, int) -> Offset2d {
        const Patches patch = {patches + (int)i / Patches::AREA};
        const int own = (int)i % Patches::AREA;
        const int p = patch.h + own / Patches::WIDE, q = patch.w + own % Patches::WIDE;
        const int h = (int)(p * Shape::STRIDE_H - Shape::PAD_TOP);
        const int w = (int)(q * Shape::STRIDE_W - Shape::PAD_LEFT);
        if (i >= Patches::PIXELS || patch.n >= Shape::N) return {0, -(1 << 29), 0};  // in no map
        return {((patch.n * Shape::H + h) * Shape::W + w) * Shape::C, h, w};
    };
    typename G::template Patches<Tile::ROWS, true, X> pixels = {
        x, block.group * G::C, Shape::H, Shape::W, G::taps()};
    typename G::template Filters<Weights> filters = {
        weight, (long long)first * G::FILTER, 1, 1, {G::FILTER, 1}};
    real sum[Tile::ROWS_EACH][Tile::COLUMNS_EACH] = {};
    block_sums<Tile>(shared.tiles, pixels, 0, pixel, filters, block.column,
                     Im2colIndex{G::K, G::FILTER}, 0, G::FILTER, sum);

    constexpr bool CHANGED = BIAS || !std::is_same_v<Own, identity>;
    for (int j = 0; CHANGED && j < Tile::COLUMNS_EACH; j++) {
        const int k = block.column + Tile::column(j);
        const real add = BIAS && k < G::K ? bias[first + k] : (real)0;
        for (int i = 0; i < Tile::ROWS_EACH; i++)
            sum[i][j] = Own::forward(BIAS ? sum[i][j] + add : sum[i][j]);
    }
    finish_sums<Tile, G::K>(y, shared.tiles, sum, block);
    auto place = [](int row) { return row * PITCH + row / 4 * SKEW; };
    for (int part = 0; part < Tile::COLUMNS_EACH; part += 4) {
        __syncthreads();                // the tiles have been read
        for (int i = 0; i < Tile::ROWS_EACH; i++)
            for (int j = 0; j < 4; j += RUN) {
                Vec<RUN> run;
                for (int r = 0; r < RUN; r++) run.at[r] = sum[i][part + j + r];
                store_shared(&shared.map[place(Tile::row(i)) + Tile::column(j)], run);
            }
        __syncthreads();
        for (int i = (int)threadIdx.x; i < Patches::WINDOWS * WORDS; i += Tile::THREADS) {
            const int window = i / WORDS % Patches::EACH, own = i / WORDS / Patches::EACH;
            const int column = i % WORDS * Pool::EACH;
            const int k = block.column + part * Tile::WIDE + column;
            const Patches patch = {patches + own};
            const int p = patch.p + window / Patches::ACROSS;
            const int q = patch.q + window % Patches::ACROSS;
            if (k >= G::K || patch.n >= Shape::N || p >= Pooled::P || q >= Pooled::Q) continue;
            const int h = (int)(p * Pooled::STRIDE_H - Pooled::PAD_TOP);
            const int w = (int)(q * Pooled::STRIDE_W - Pooled::PAD_LEFT);
            const int row = own * Patches::AREA + (h - patch.h) * Patches::WIDE + w - patch.w;
            pool_window<Pooled, Pool, Act>(y, index, (patch.n * Pooled::P + p) * Pooled::Q + q,
                                           first + k, h, w, (const real *)shared.map,
                                           place(row) + column, Patches::WIDE * PITCH, PITCH);
        }
    }
}
