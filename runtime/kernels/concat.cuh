// Values one after the other along an axis.
#pragma once
#include "../support/cell.cuh"
#include "../support/elementwise.cuh"
#include "../support/load.cuh"

// Columns: what of a row a source of concat_forward fills.
template <long long WIDTH, class X = const real *>
struct Columns {
    typedef X array;
    static constexpr long long width = WIDTH;
};

// concat_forward: row by row the rows of each source, one after the other: sources [ROWS, WIDTH]
// of a width each, y [ROWS, sum of the widths].  A thread takes PACK elements, which must divide
// every width; which source they are of is found by comparing, for an index would put the sources
// in memory.  y must not be a source.
template <class Shape, class Y, class... Source>
__global__ void concat_forward(Y y, typename Source::array... source)
{
    constexpr int V = (int)Shape::PACK;
    constexpr long long width = (Source::width + ...), count = Shape::ROWS * width / V;
    FOR_EACH(i, count) {
        const Cell cell = cell_of(i, width / V, count < 1LL << 31);
        const long long column = cell.column * V;
        Pack<V> taken = {};
        long long first = 0;
        ((taken = column >= first && column < first + Source::width
                      ? load_pack<V>(source, cell.row * Source::width + column - first)
                      : taken,
          first += Source::width),
         ...);
        store_pack(y, i * V, taken);
    }
}
