// The data gradient of a convolution with a stride.
//
// A pixel of dx meets only the taps r with (h + pad - r*dilation) % stride == 0.  They are the
// same for all h of one h % stride.  So dx falls into stride_h * stride_w classes of pixels, and
// each is a dense convolution with every few taps; a block works in one class.
#pragma once
#include "conv.cuh"

// ConvTaps: along one axis, the taps that the pixels residue + i * stride of dx meet: `count` taps
// from `first` on, `every` taps apart; the first meets pixel origin + i of dy, and each next one a
// pixel `back` pixels before.
struct ConvTaps {
    int first, every, count, origin, back;
    __device__ ConvTaps(int residue, int stride, int dilation, int pad, int extent)
    {
        for (first = 0; first < extent; first++)
            if ((residue + pad - first * dilation) % stride == 0) break;
        for (every = 1; every * dilation % stride != 0;) every++;
        count = (extent - first + every - 1) / every;
        origin = (residue + pad - first * dilation) / stride;
        back = every * dilation / stride;
    }
};

// conv_strided_dgrad: conv_dgrad with any stride.  A block makes a tile of pixels of one class x
// channels of one group.  Sums run over r, s, k in this order.
template <class Shape, class Tile, class Act, class DY = const real *, class Weights = const real *,
          class Mask = const real *, class DX = real *>
__global__ void __launch_bounds__(Tile::THREADS, Tile::template blocks<DY, Weights>())
    conv_strided_dgrad(DX dx, DY dy, Weights weight, Mask mask)
{
    typedef ConvGroup<Shape, Tile> G;
    constexpr int C = G::C, K = G::K, R = (int)Shape::R, S = (int)Shape::S;
    constexpr int STRIDE_H = (int)Shape::STRIDE_H, STRIDE_W = (int)Shape::STRIDE_W;
    constexpr long long X_LINE = Shape::W * Shape::C, Y_LINE = Shape::Q * Shape::K;
    const ConvBlock<Tile, C, Shape::GROUPS, STRIDE_H * STRIDE_W> block;
    const int first = block.group * C;
    const int top = block.part / STRIDE_W, left = block.part % STRIDE_W;
    const ConvTaps r(top, STRIDE_H, (int)Shape::DILATION_H, (int)Shape::PAD_TOP, R);
    const ConvTaps s(left, STRIDE_W, (int)Shape::DILATION_W, (int)Shape::PAD_LEFT, S);
    const int height = ((int)Shape::H - top + STRIDE_H - 1) / STRIDE_H;
    const int width = ((int)Shape::W - left + STRIDE_W - 1) / STRIDE_W;
    const int depth = r.count * s.count * K;
    const long long pixels = Shape::N * height * width;
    TileLoader<Tile, Tile::ROWS, G::VEC_K, true, DY> slopes = {
        dy, block.group * K, Shape::P, Shape::Q,
        {depth, 0, G::SMALL, {r.count, 0, -r.back, Y_LINE}, {s.count, 0, -s.back, Shape::K}, K}};
    TileLoader<Tile, Tile::COLUMNS, G::VEC_C, false, Weights> filters = {
        weight, (long long)block.group * K * G::FILTER, R, S,
        {depth, 0, G::SMALL, {r.count, r.first, r.every, S * C}, {s.count, s.first, s.every, C}, K,
         G::FILTER}};
    // A class may have no pixels, but has a height and a width to divide by.
    const Im2colIndex pixel = {pixels, Shape::H * X_LINE, G::SMALL,
                               {max(height, 1), top, STRIDE_H, X_LINE},
                               {max(width, 1), left, STRIDE_W, Shape::C}};
    // Classes of one size, of which tiles are full.
    constexpr long long EACH = Shape::N * (Shape::H / STRIDE_H) * (Shape::W / STRIDE_W);
    constexpr bool FULL = Shape::H % STRIDE_H == 0 && Shape::W % STRIDE_W == 0 &&
                          EACH % Tile::ROWS == 0;
    __shared__ typename Tile::SharedTiles tiles;
    real sum[Tile::ROWS_EACH][Tile::COLUMNS_EACH] = {};
    if (block.row < pixels) {                       // or the class has fewer tiles than others
        const Im2colIndex rows = {pixels, Shape::P * Y_LINE, G::SMALL,
                                  {height, r.origin, 1, Y_LINE},
                                  {width, s.origin, 1, Shape::K}};
        block_sums<Tile>(tiles, slopes, block.row, rows, filters, block.column, Im2colIndex{C, 1},
                         0, depth, sum);
    }
    auto place = [=](long long i) { return pixel(i).offset + first; };
    auto make = [=](auto &run, long long at, int c) {
        constexpr int V = sizeof run / sizeof(real);
        const auto own = load_lazy<V>(mask, at, first + c);
        UNROLL for (int j = 0; j < V; j++) run.at[j] = Act::gradient(run.at[j], own, at + j);
    };
    store_runs<Tile, C, FULL>(dx, tiles, sum, block, pixels, place, make);
}
