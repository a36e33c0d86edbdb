// Values one after the other along an axis.
#pragma once
#include "../support/cell.cuh"
#include "../support/elementwise.cuh"
#include "../support/load.cuh"

// Columns: what of a row a source of concat_forward, or of what is Joined, fills.
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

// Joined: the same as an array that is nowhere: row by row the rows of each source, one after the
// other.  A pack that every width is a multiple of is one source's.
template <class Shape, class First, class... Rest>
struct Joined {
    static constexpr long long width = (First::width + ... + Rest::width);
    typename First::array x;
    Joined<Shape, Rest...> rest;
    Joined(typename First::array first, typename Rest::array... others) : x(first), rest(others...)
    {
    }
    template <int V>
    __device__ Pack<V> of(long long row, long long column) const
    {
        return column < First::width ? load_pack<V>(x, row * First::width + column)
                                     : rest.template of<V>(row, column - First::width);
    }
    __device__ real operator[](long long i) const { return pack<1>(i).at[0]; }
    template <int V>
    __device__ Pack<V> pack(long long i) const
    {
        constexpr bool whole = First::width % V == 0 && ((Rest::width % V == 0) && ...);
        if constexpr (whole) {
            const Cell cell = cell_of(i, width, Shape::ROWS * width < 1LL << 31);
            return of<V>(cell.row, cell.column);
        } else {
            return pack_each<V>(*this, i);
        }
    }
};
template <class Shape, class Last>
struct Joined<Shape, Last> {
    typename Last::array x;
    Joined(typename Last::array last) : x(last) {}
    template <int V>
    __device__ Pack<V> of(long long row, long long column) const
    {
        return load_pack<V>(x, row * Last::width + column);
    }
    __device__ real operator[](long long i) const { return x[i]; }
    template <int V>
    __device__ Pack<V> pack(long long i) const { return load_pack<V>(x, i); }
};
