// Values one after the other along an axis.
#pragma once
#include "../support/cell.cuh"
#include "../support/elementwise.cuh"
#include "../support/product.cuh"

// Columns: lets a kernel have as many pointers as it is given widths.
template <long long WIDTH>
struct Columns { typedef const real *pointer; };

// concat_forward: row by row the rows of each source, one after the other: sources [ROWS, WIDTH]
// of a width each, y [ROWS, sum of the widths].  A thread takes PACK elements, which must divide
// every width; which source they are of is found by comparing, for an index would put the pointers
// in memory.  y must not be a source.
template <class Shape, long long... WIDTH>
__global__ void concat_forward(real *y, typename Columns<WIDTH>::pointer... source)
{
    constexpr int V = (int)Shape::PACK;
    constexpr long long width = (WIDTH + ...), count = Shape::ROWS * width / V;
    FOR_EACH(i, count) {
        const Cell cell = cell_of(i, width / V, count < 1LL << 31);
        const long long column = cell.column * V;
        const real *from = y;
        long long first = 0;
        ((from = column >= first ? source + (cell.row * WIDTH + column - first) : from,
          first += WIDTH),
         ...);
        *(Pack<V> *)(y + i * V) = *(const Pack<V> *)from;
    }
}
