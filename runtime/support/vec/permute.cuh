// Elements in another order.
#pragma once
#include "cell.cuh"
#include "elementwise.cuh"
#include "load.cuh"

// permute: element a, b, c, d, e of y [-, D1, D2, D3, D4] is x[a*S0 + b*S1 + c*S2 + d*S3 + e*S4];
// both have COUNT elements.  A thread takes VEC of them, adjacent in both.  y must not be x.
template <class Shape, class X = const real *, class Y = real *>
__global__ void permute(Y y, X x)
{
    constexpr int V = (int)Shape::VEC;
    constexpr bool small = Shape::COUNT < 1LL << 31;
    FOR_EACH(i, Shape::COUNT / V) {
        const Cell e = cell_of(i, Shape::D4 / V, small), d = cell_of(e.row, Shape::D3, small);
        const Cell c = cell_of(d.row, Shape::D2, small), b = cell_of(c.row, Shape::D1, small);
        const long long from = b.row * Shape::S0 + b.column * Shape::S1 + c.column * Shape::S2 +
                               d.column * Shape::S3 + e.column * V * Shape::S4;
        store_vec(y, i * V, load_vec<V>(x, from));
    }
}
