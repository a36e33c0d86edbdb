// Sums over the pixels of a map for each of its C channels, made by the product that makes the map.
//
// A block sums the columns of its tile of the map as it is stored.  Tiles form GROUPS runs.  The
// last block of a run adds up its tiles, and the one that ends the last run adds up the runs.  So
// most runs are added up while others are still multiplied, and each order is fixed.
//
// Sums are pairs.  A struct of sums (MomentSums, ProductSums) makes those of a tile, adds two up
// and stores the totals.
#pragma once
#include <math.h>
#include "../support/vec/mul_add.cuh"
#include "../support/gemm/product.cuh"
#include "../support/net/header.cuh"
#include "../support/vec/last_block.cuh"
#include "../support/vec/load.cuh"
#include "../support/vec/unroll.cuh"

// ColumnPair: two sums for each of V adjacent columns.
template <int V>
struct ColumnPair { Vec<V> first, second; };

// ColumnRoom: the layout of the sums of threads that share a column, in shared memory.  The 8 rows
// of a warp are PITCH elements apart, in different banks.
template <class Tile>
struct ColumnRoom {
    static constexpr int SHARING = Tile::THREADS * Tile::COLUMNS_EACH / Tile::COLUMNS;
    static constexpr int PITCH = Tile::COLUMNS + 8, SIZE = SHARING * PITCH;
};

// tile_totals: take(c, total) for each column c of a block's tile, where a thread has own[j] of
// column Tile::column(j).  The threads of a column add up in a fixed order, through `room`, whose
// last contents must have been read before a barrier.
template <class Tile, class Take>
static __device__ inline void tile_totals(real *room, const real (&own)[Tile::COLUMNS_EACH],
                                          const Take &take)
{
    typedef ColumnRoom<Tile> Room;
    // A column's threads have every 4th row first, or rows of 8 in each warp.
    const int row = Tile::row(0), high = 8 * Tile::ROWS_EACH;
    const int place = Tile::row(1) == row + 1 ? row / 4 : row / high * 8 + row % high;
    UNROLL for (int j = 0; j < Tile::COLUMNS_EACH; j++)
        room[place * Room::PITCH + Tile::column(j)] = own[j];
    __syncthreads();
    for (int c = (int)threadIdx.x; c < Tile::COLUMNS; c += Tile::THREADS) {
        real total = 0;
        for (int i = 0; i < Room::SHARING; i++) total += room[i * Room::PITCH + c];
        take(c, total);
    }
}

// MomentSums: mean and sum of squared deviations of the first samples * pixels rows; then mean,
// variance (over n, not n - 1) and factor = weight / sqrt(variance + epsilon), without weight 1.
// Each tile's deviations are from its own mean, so digits stay where the mean is large.
struct MomentSums {
    real *mean, *variance, *factor;
    const real *weight;
    long long samples, pixels;
    real epsilon;
    // The valid ones of `count` rows from `first` on.
    __device__ real rows(long long first, long long count) const
    {
        const long long left = samples * pixels - first;
        return (real)(left < 0 ? 0 : left < count ? left : count);
    }
    template <class Tile, int COLUMNS, class Block, class Where, class Take>
    __device__ void of_tile(real *room, const real (&value)[Tile::ROWS_EACH][Tile::COLUMNS_EACH],
                            const Block &block, long long, const Where &, const Take &take) const
    {
        constexpr int EACH = Tile::COLUMNS_EACH;
        const long long end = samples * pixels;
        const real n = rows(block.row, Tile::ROWS);
        real *const middle = room + ColumnRoom<Tile>::SIZE;
        real sum[EACH] = {}, squares[EACH] = {};
        UNROLL for (int i = 0; i < Tile::ROWS_EACH; i++)
            UNROLL for (int j = 0; j < EACH; j++)
                if (block.row + Tile::row(i) < end) sum[j] += value[i][j];
        __syncthreads();
        tile_totals<Tile>(room, sum, [=](int c, real total) {
            middle[c] = total / (n > 0 ? n : (real)1);
        });
        __syncthreads();
        UNROLL for (int i = 0; i < Tile::ROWS_EACH; i++)
            UNROLL for (int j = 0; j < EACH; j++) {
                const real apart = value[i][j] - middle[Tile::column(j)];
                if (block.row + Tile::row(i) < end)
                    squares[j] = mul_add(apart, apart, squares[j]);
            }
        tile_totals<Tile>(room, squares, [=](int c, real total) { take(c, middle[c], total); });
    }
    // Adds the moments of m rows to those of n.
    template <int V>
    static __device__ void add(ColumnPair<V> &to, real &n, const ColumnPair<V> &from, real m)
    {
        const real all = n + m, part = all > 0 ? m / all : (real)0, both = n * part;
        UNROLL for (int j = 0; j < V; j++) {
            const real apart = from.first.at[j] - to.first.at[j];
            to.first.at[j] = mul_add(apart, part, to.first.at[j]);
            to.second.at[j] += mul_add(apart * apart, both, from.second.at[j]);
        }
        n = all;
    }
    __device__ void store(long long c, real middle, real squares) const
    {
        const long long all = samples * pixels;
        mean[c] = middle;
        variance[c] = squares / (all > 0 ? (real)all : (real)1);
        factor[c] = (weight ? weight[c] : (real)1) / sqrt(variance[c] + epsilon);
    }
};

// ProductSums: of dy, the map of the product, over its first samples * pixels rows: sum, and
// product, the sum of dy * (x - mean) / sqrt(variance + epsilon).
template <long long C, class X = const real *>
struct ProductSums {
    real *sum, *product;
    X x;
    const real *mean, *variance;
    long long samples, pixels;
    real epsilon;
    __device__ real rows(long long, long long) const { return 0; }
    template <class Tile, int COLUMNS, class Block, class Where, class Take>
    __device__ void of_tile(real *room, const real (&dy)[Tile::ROWS_EACH][Tile::COLUMNS_EACH],
                            const Block &block, long long end, const Where &place,
                            const Take &take) const
    {
        constexpr int EACH = Tile::COLUMNS_EACH, V = Tile::template RUN<COLUMNS>;
        real *const totals = room + ColumnRoom<Tile>::SIZE;
        real slopes[EACH] = {}, products[EACH] = {};
        UNROLL for (int i = 0; i < Tile::ROWS_EACH; i++) {
            const long long row = block.row + Tile::row(i), begin = place(row);
            if (row >= end || begin >= samples * pixels * C) continue;
            UNROLL for (int j = 0; j < EACH; j += V) {
                const int column = block.column + Tile::column(j);
                if (COLUMNS % Tile::COLUMNS && column >= COLUMNS) continue;
                const Vec<V> own = load_vec<V>(x, begin + column);
                const Vec<V> middle = load_vec<V>(mean, block.group * COLUMNS + column);
                UNROLL for (int k = 0; k < V; k++) {
                    const real apart = own.at[k] - middle.at[k];
                    slopes[j + k] += dy[i][j + k];
                    products[j + k] = mul_add(dy[i][j + k], apart, products[j + k]);
                }
            }
        }
        __syncthreads();
        tile_totals<Tile>(room, slopes, [=](int c, real total) { totals[c] = total; });
        __syncthreads();
        tile_totals<Tile>(room, products, [=](int c, real total) { take(c, totals[c], total); });
    }
    template <int V>
    static __device__ void add(ColumnPair<V> &to, real &, const ColumnPair<V> &from, real)
    {
        UNROLL for (int j = 0; j < V; j++) {
            to.first.at[j] += from.first.at[j];
            to.second.at[j] += from.second.at[j];
        }
    }
    __device__ void store(long long c, real total, real products) const
    {
        sum[c] = total;
        product[c] = products / sqrt(variance[c] + epsilon);
    }
};

// Summed: the map y, whose sums the product makes when it stores it.  The partial sums are those
// of the tiles, then of the runs: [TILES + GROUPS, 2, C].  A run has BITS of the header's count for
// its blocks that have ended, and for one more when it has been added up.
template <long long C, int GROUPS, class Sums, class Y = real *>
struct Summed {
    Y y;
    real *partials;
    StateHeader *header;
    Sums sums;
    static constexpr int BITS = 64 / GROUPS;
    // Adds up `count` pairs from the one at `from` on, and calls take(c, first, second) for each
    // column.  A pair is of `rows` rows, the first from row `begin` on.  The room's last contents
    // must have been read before a barrier.
    template <int THREADS, class Take>
    __device__ void add_up(real *room, const real *from, int count, long long begin,
                           long long rows, const Take &take) const
    {
        constexpr int V = C % 4 == 0 ? 4 : 1, AHEAD = 4, WORDS = 2 * V + 1;
        constexpr int VECS = (int)(C / V), WIDE = VECS < THREADS ? VECS : THREADS;
        constexpr int SHARING = THREADS / WIDE;
        const int own = (int)threadIdx.x % WIDE, lane = (int)threadIdx.x / WIDE;
        for (int vec = own; vec - own < VECS; vec += WIDE) {
            const long long c = (long long)vec * V;
            ColumnPair<V> total = {};
            real n = 0;
            for (int i = lane; i < count && vec < VECS && lane < SHARING; i += AHEAD * SHARING) {
                ColumnPair<V> part[AHEAD] = {};
                UNROLL for (int k = 0; k < AHEAD; k++) {
                    const long long at = 2 * (i + k * SHARING) * C + c;
                    if (i + k * SHARING >= count) continue;
                    part[k] = {load_vec<V>(from, at), load_vec<V>(from, at + C)};
                }
                UNROLL for (int k = 0; k < AHEAD; k++)
                    if (i + k * SHARING < count)
                        Sums::add(total, n, part[k],
                                  sums.rows(begin + (i + k * SHARING) * rows, rows));
            }
            if constexpr (SHARING > 1) {
                real *const words = room + threadIdx.x * WORDS;
                UNROLL for (int j = 0; j < V; j++) {
                    words[j] = total.first.at[j];
                    words[V + j] = total.second.at[j];
                }
                words[2 * V] = n;
                __syncthreads();
                for (int l = 1; l < SHARING && lane == 0; l++) {
                    const real *const others = words + l * WIDE * WORDS;
                    ColumnPair<V> part;
                    UNROLL for (int j = 0; j < V; j++) {
                        part.first.at[j] = others[j];
                        part.second.at[j] = others[V + j];
                    }
                    Sums::add(total, n, part, others[2 * V]);
                }
            }
            for (int j = 0; j < V && vec < VECS && lane == 0; j++)
                take(c + j, total.first.at[j], total.second.at[j]);
        }
    }
    // Stores a pair of column c as number i.
    __device__ void put(long long i, long long c, real first, real second) const
    {
        partials[2 * i * C + c] = first;
        partials[(2 * i + 1) * C + c] = second;
    }
    template <class Tile, int COLUMNS, bool FULL, class Tiles, class Sum, class Block, class Where,
              class Make>
    friend __device__ void store_runs(const Summed &to, Tiles &tiles, Sum &sum, const Block &block,
                                      long long rows, const Where &place, const Make &make)
    {
        typedef std::decay_t<decltype(to.y[0])> Stored;
        static_assert(sizeof tiles >= sizeof(real) * (ColumnRoom<Tile>::SIZE + Tile::COLUMNS),
                      "sums fit where tiles were");
        static_assert(sizeof tiles >= sizeof(real) * Tile::THREADS * 9, "so do pairs of columns");
        constexpr int ACROSS = Block::TILES * (int)(C / COLUMNS);   // blocks of a row of tiles
        const int tile = (int)blockIdx.x / ACROSS, count = (int)gridDim.x / ACROSS;
        const int each = (count + GROUPS - 1) / GROUPS, run = tile / each, begin = run * each;
        const int own = min(each, count - begin);
        real *const room = (real *)&tiles;
        each_run<Tile, COLUMNS, FULL>(sum, block, rows, place, make);
        each_run<Tile, COLUMNS, FULL>(sum, block, rows, place, [=](auto &some, long long at, int) {
            store_vec(to.y, at, some);
            for (real &one : some.at) one = as_stored<Stored>(one);
        });
        to.sums.template of_tile<Tile, COLUMNS>(room, sum, block, rows, place,
                                                [=](int c, real first, real second) {
            const int column = block.column + c;
            if (column < COLUMNS) to.put(tile, block.group * COLUMNS + column, first, second);
        });
        uint64_t *const arrivals = &to.header->arrivals;
        const uint64_t one = 1ull << run * to.BITS;
        const uint64_t mask = ~0ull >> (64 - to.BITS) << run * to.BITS;
        const uint64_t blocks = (uint64_t)own * ACROSS * one;
        if (!__syncthreads_or(count_block(arrivals, blocks, one, mask))) return;
        const auto store = [=](long long c, real first, real second) {
            to.sums.store(c, first, second);
        };
        if constexpr (GROUPS == 1) {
            to.template add_up<Tile::THREADS>(room, to.partials, count, 0, Tile::ROWS, store);
        } else {
            const long long height = (long long)each * Tile::ROWS;
            to.template add_up<Tile::THREADS>(
                room, to.partials + 2 * begin * C, own, begin * (long long)Tile::ROWS, Tile::ROWS,
                [=](long long c, real first, real second) {
                    to.put(count + run, c, first, second);
                });
            uint64_t all = 0;
            for (int i = 0; i < GROUPS; i++)
                all |= ((uint64_t)min(each, count - i * each) * ACROSS + 1) << i * to.BITS;
            if (!__syncthreads_or(count_block(arrivals, all, one))) return;
            to.template add_up<Tile::THREADS>(room, to.partials + 2 * count * C, GROUPS, 0, height,
                                              store);
        }
    }
};
