// Values one after the other along an axis.
#pragma once
#include "../support/vec/cell.cuh"
#include "../support/vec/elementwise.cuh"
#include "../support/vec/load.cuh"

// Columns: the columns of a row of Joined that one source fills.
template <long long WIDTH, class X = const real *>
struct Columns {
    typedef X array;
    static constexpr long long width = WIDTH;
};

// Joined: row by row the rows of each source, one after the other; sources [ROWS, WIDTH] of a width
// each, Joined [ROWS, sum of the widths].  A vector is of one source if it divides every width.
// Comparisons find the source, because an index would put the sources in memory.
template <class Shape, class First, class... Rest>
struct Joined {
    static constexpr long long width = (First::width + ... + Rest::width);
    typename First::array x;
    Joined<Shape, Rest...> rest;
    __host__ __device__ Joined(typename First::array first, typename Rest::array... others)
        : x(first), rest(others...)
    {
    }
    template <int V>
    __device__ Vec<V> of(long long row, long long column) const
    {
        return column < First::width ? load_vec<V>(x, row * First::width + column)
                                     : rest.template of<V>(row, column - First::width);
    }
    __device__ real operator[](long long i) const { return vec<1>(i).at[0]; }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const
    {
        constexpr bool whole = First::width % V == 0 && ((Rest::width % V == 0) && ...);
        if constexpr (whole) {
            const Cell cell = cell_of(i, width, Shape::ROWS * width < 1LL << 31);
            return of<V>(cell.row, cell.column);
        } else {
            return vec_each<V>(*this, i);
        }
    }
};
template <class Shape, class Last>
struct Joined<Shape, Last> {
    static constexpr long long width = Last::width;
    typename Last::array x;
    __host__ __device__ Joined(typename Last::array last) : x(last) {}
    template <int V>
    __device__ Vec<V> of(long long row, long long column) const
    {
        return load_vec<V>(x, row * Last::width + column);
    }
    __device__ real operator[](long long i) const { return x[i]; }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const { return load_vec<V>(x, i); }
};

// concat_forward: y = the sources Joined.  A thread takes VEC elements, which must divide every
// width.  y must not be a source.
template <class Shape, class Y, class... Source>
__global__ void concat_forward(Y y, typename Source::array... source)
{
    constexpr int V = (int)Shape::VEC;
    const Joined<Shape, Source...> made(source...);
    FOR_EACH(i, Shape::ROWS * made.width / V) store_vec(y, i * V, load_vec<V>(made, i * V));
}
