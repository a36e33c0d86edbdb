// A box of one array copied into another: slices, paddings, crops and their gradients.
#pragma once
#include "cell.cuh"
#include "elementwise.cuh"
#include "identity.cuh"
#include "load.cuh"

// copy_box: y[o,r,c] = x[o, r + DOWN, c + RIGHT], or `outside` if x has no such element, times the
// derivative of Act at mask; x [OUTER, ROWS_IN, COLUMNS_IN], y and mask [OUTER, ROWS, COLUMNS].  A
// thread takes VEC elements, which must divide both widths and RIGHT.  y may be mask, not x.
template <class Shape, class Act, class X = const real *, class Mask = const real *,
          class Y = real *>
__global__ void copy_box(Y y, X x, Mask mask, real outside)
{
    constexpr int V = (int)Shape::VEC;
    constexpr long long width = Shape::COLUMNS / V, count = Shape::OUTER * Shape::ROWS * width;
    constexpr bool small = count < 1LL << 31;
    FOR_EACH(i, count) {
        const Cell line = cell_of(i, width, small), image = cell_of(line.row, Shape::ROWS, small);
        const long long row = image.column + Shape::DOWN, column = line.column * V + Shape::RIGHT;
        const bool inside = row >= 0 && row < Shape::ROWS_IN && column >= 0 &&
                            column < Shape::COLUMNS_IN;
        const long long from = (image.row * Shape::ROWS_IN + row) * Shape::COLUMNS_IN + column;
        Vec<V> taken = {};
        if (inside) taken = load_vec<V>(x, from);
        for (int j = 0; j < V; j++)
            taken.at[j] = Act::gradient(inside ? taken.at[j] : outside, mask, i * V + j);
        store_vec(y, i * V, taken);
    }
}
