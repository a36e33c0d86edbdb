// Sums of the columns of a matrix [ROWS, C], channels innermost, by blocks of 256 threads.
#pragma once
#include "vec.cuh"

// ColumnRun: the part of a matrix that a thread sums: V adjacent columns from c on (V divides C),
// if c is below C, in every LANES-th row from first to below end.  A block has Shape::WIDTH columns
// (a power of two), WIDTH threads, of one of SPLITS runs of rows; the block number counts tiles of
// columns first.
template <class Shape, int V = 1>
struct ColumnRun {
    static constexpr int WIDTH = (int)Shape::WIDTH / V, LANES = 256 / WIDTH;
    static constexpr long long TILES = (Shape::C + Shape::WIDTH - 1) / Shape::WIDTH;
    static constexpr long long RUN = (Shape::ROWS + Shape::SPLITS - 1) / Shape::SPLITS;
    long long split, c, first, end;
    bool leads;
    __device__ ColumnRun(long long rows = Shape::ROWS, long long block = blockIdx.x)
        : split(block / TILES), c(block % TILES * Shape::WIDTH + threadIdx.x % WIDTH * V),
          first(split * RUN + threadIdx.x / WIDTH), end((split + 1) * RUN),
          leads(threadIdx.x < WIDTH && c < Shape::C)
    {
        if (c >= Shape::C) end = 0;
        else if (end > rows) end = rows;
    }
};

// EndsOf: the shape of the partial sums of a launch over Shape, a row a split.  Tiles are as wide
// as a block allows.
template <class Shape>
struct EndsOf {
    static constexpr long long ROWS = Shape::SPLITS, C = Shape::C, SPLITS = 1,
                               WIDTH = C > 128 ? 256 : C > 64 ? 128 : C > 32 ? 64 : Shape::WIDTH,
                               TILES = (C + WIDTH - 1) / WIDTH;
};

// column_totals: sums each of the V values over the threads of its columns, in a tree of fixed
// order.  The thread that leads gets the sums.  All 256 threads of the block call it.
template <int WIDTH, int V>
static __device__ inline void column_totals(Vec<V> &value)
{
    __shared__ real partial[V][256];
    const int own = (int)threadIdx.x;
    __syncthreads();                    // the previous totals have been read
    UNROLL for (int j = 0; j < V; j++) partial[j][own] = value.at[j];
    for (int half = 128; half >= WIDTH; half /= 2) {
        __syncthreads();
        if (own >= half) continue;
        UNROLL for (int j = 0; j < V; j++) partial[j][own] += partial[j][own + half];
    }
    UNROLL for (int j = 0; j < V; j++) value.at[j] = partial[j][own];
}

// column_total: column_totals of one column.
template <int WIDTH>
static __device__ inline real column_total(real value)
{
    Vec<1> total = {{value}};
    column_totals<WIDTH>(total);
    return total.at[0];
}
