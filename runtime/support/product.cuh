// The product behind every convolution: out[row, column] = sum over k of a(row, k) * b(column, k).
//
//   load stage      where an element of a or b comes from: a struct with lane(i), step(k), read(offset)
//   product         tiles through shared memory, a small square of sums in each thread's registers
//   store stage     what becomes of a sum: a struct with row(i), value(...), watch(tile)
//
// A load stage says nothing of tiles: it turns a row or column number (a lane) and a reduction index
// (a step) into a Spot each.  The two spots add up to a position in a map, which is read, or which
// lies outside and is zero: padding, the rest of a tile and odd sizes are all this one test.  So a
// stage that changes what it reads (read) never changes the padding.
//
// While a tile is multiplied the next one is on its way in registers, and two tiles take turns in
// shared memory: one barrier a tile.  Sums run over k in ascending order, in every thread.
#pragma once
#include "real.cuh"

// Spot: half of a position: what it adds to the element offset, to the row and to the column of a map.
struct Spot {
    long long offset;
    int h, w;
};

// nowhere: the spot of a lane or step that is not there: whatever is added, it is in no map.
static __device__ inline Spot nowhere() { return Spot{0, -(1 << 29), 0}; }

// Pack: V elements that lie side by side and move at once.
template <int V>
struct alignas(V * sizeof(real)) Pack {
    real at[V];
};

// Digits: an index taken apart: i = (outer * MIDDLE + middle) * INNER + inner.
struct Digits {
    long long outer;
    int middle, inner;
};

// digits: i < COUNT taken apart; in 32 bits where COUNT allows, for there division is cheap.
template <long long COUNT>
static __device__ inline Digits digits(long long i, int middle, int inner)
{
    if (COUNT <= 0x7fffffff) {
        unsigned j = (unsigned)i / (unsigned)inner;
        unsigned outer = j / (unsigned)middle;
        return Digits{outer, (int)(j % (unsigned)middle), (int)((unsigned)i % (unsigned)inner)};
    }
    long long j = i / inner;
    return Digits{j / middle, (int)(j % middle), (int)(i % inner)};
}

// Tile: a block makes R x C sums, a thread RE x CE of them (multiples of 4) and DEPTH steps at a time.
template <int R, int C, int RE, int CE>
struct Tile {
    static constexpr int ROWS = R, COLUMNS = C, ROWS_EACH = RE, COLUMNS_EACH = CE;
    static constexpr int THREADS = R / RE * (C / CE), DEPTH = 64 / (int)sizeof(real);
    static constexpr int PAD = 4;  // of a line in shared memory, against bank conflicts

    // The thread's i-th row and j-th column in the tile, in groups of 4 that lie side by side.
    static __device__ inline int row(int i)
    {
        return i / 4 * (4 * R / RE) + (int)threadIdx.x / (C / CE) * 4 + i % 4;
    }
    static __device__ inline int column(int j)
    {
        return j / 4 * (4 * C / CE) + (int)threadIdx.x % (C / CE) * 4 + j % 4;
    }
};

// Panel: how the block brings LANES lanes x DEPTH steps of one operand to shared memory.  Threads run
// along memory: along the steps of a lane (Load::ALONG_STEPS) or along the lanes of a step.
template <class Load, int LANES, class Tile>
struct Panel {
    static constexpr int V = Load::VECTOR, DEPTH = Tile::DEPTH, WIDTH = LANES + Tile::PAD;
    static constexpr int ACROSS = (Load::ALONG_STEPS ? DEPTH : LANES) / V;
    static constexpr int PACKS = LANES * DEPTH / V;
    static constexpr int EACH = (PACKS + Tile::THREADS - 1) / Tile::THREADS;
    static_assert(Tile::THREADS % ACROSS == 0, "a thread keeps its place across");
    Spot lane[Load::ALONG_STEPS ? EACH : 1];
    Pack<V> held[EACH];

    static __device__ inline int place_across() { return (int)threadIdx.x % ACROSS * V; }
    static __device__ inline int place_down(int i)
    {
        return (int)threadIdx.x / ACROSS + i * (Tile::THREADS / ACROSS);
    }
    static __device__ inline bool has(int i)
    {
        return PACKS % Tile::THREADS == 0 || (int)threadIdx.x + i * Tile::THREADS < PACKS;
    }
    __device__ inline void start(const Load &load, long long first)
    {
        for (int i = 0; i < (Load::ALONG_STEPS ? EACH : 1); i++)
            lane[i] = load.lane(first + (Load::ALONG_STEPS ? place_down(i) : place_across()));
    }
    __device__ inline Pack<V> element(const Load &load, Spot a, Spot b) const
    {
        Pack<V> zero = {};
        bool inside = (unsigned)(a.h + b.h) < Load::H && (unsigned)(a.w + b.w) < Load::W;
        return inside ? load.read(a.offset + b.offset) : zero;
    }
    __device__ inline void fetch(const Load &load, long long k)
    {
        if (Load::ALONG_STEPS) {
            Spot step = load.step(k + place_across());
            for (int i = 0; i < EACH; i++) held[i] = element(load, lane[i], step);
        } else {
            for (int i = 0; i < EACH; i++)
                held[i] = element(load, lane[0], load.step(k + place_down(i)));
        }
    }
    __device__ inline void put(real (*tile)[WIDTH]) const
    {
        for (int i = 0; i < EACH; i++) {
            if (!has(i)) continue;
            for (int j = 0; j < V; j++) {
                if (Load::ALONG_STEPS) tile[place_across() + j][place_down(i)] = held[i].at[j];
                else tile[place_down(i)][place_across() + j] = held[i].at[j];
            }
        }
    }
};

// multiply: adds the product of two tiles in shared memory to the thread's sums.
template <class Tile>
static __device__ inline void multiply(real (*sum)[Tile::COLUMNS_EACH],
                                       const real (*rows)[Tile::ROWS + Tile::PAD],
                                       const real (*columns)[Tile::COLUMNS + Tile::PAD])
{
    for (int k = 0; k < Tile::DEPTH; k++) {
        real a[Tile::ROWS_EACH], b[Tile::COLUMNS_EACH];
        for (int i = 0; i < Tile::ROWS_EACH; i++) a[i] = rows[k][Tile::row(i)];
        for (int j = 0; j < Tile::COLUMNS_EACH; j++) b[j] = columns[k][Tile::column(j)];
        for (int i = 0; i < Tile::ROWS_EACH; i++)
            for (int j = 0; j < Tile::COLUMNS_EACH; j++) sum[i][j] += a[i] * b[j];
    }
}

// store_sums: hands the thread's sums to the store stage and writes what it makes of them, four at
// once where rows of the result allow.
template <class Tile, class Store>
static __device__ inline void store_sums(const Store &store, real (*sum)[Tile::COLUMNS_EACH],
                                         long long first_row, int first_column)
{
    for (int i = 0; i < Tile::ROWS_EACH; i++) {
        long long row = store.row(first_row + Tile::row(i));  // offset of its column 0, or -1
        for (int j = 0; j < Tile::COLUMNS_EACH; j += 4) {
            int column = first_column + Tile::column(j);
            if (row < 0 || column >= Store::COLUMNS) continue;
            Pack<4> out = {};
            for (int c = 0; c < 4; c++)
                if (column + c < Store::COLUMNS) out.at[c] = store.value(row, column + c, sum[i][j + c]);
            if (Store::COLUMNS % 4 == 0) *(Pack<4> *)(store.to + row + column) = out;
            else
                for (int c = 0; c < 4; c++)
                    if (column + c < Store::COLUMNS) store.to[row + column + c] = out.at[c];
        }
    }
}

// product: one block's tile of the sums over the steps [begin, end).
template <class Tile, class A, class B, class Store>
static __device__ inline void product(const A &a, const B &b, Store &store, long long first_row,
                                      int first_column, long long begin, long long end)
{
    constexpr int DEPTH = Tile::DEPTH;
    alignas(16) __shared__ real rows[2][DEPTH][Tile::ROWS + Tile::PAD];
    alignas(16) __shared__ real columns[2][DEPTH][Tile::COLUMNS + Tile::PAD];
    real sum[Tile::ROWS_EACH][Tile::COLUMNS_EACH] = {};
    Panel<A, Tile::ROWS, Tile> left;
    Panel<B, Tile::COLUMNS, Tile> right;

    left.start(a, first_row);
    right.start(b, first_column);
    left.fetch(a, begin);
    right.fetch(b, begin);
    left.put(rows[0]);
    right.put(columns[0]);
    __syncthreads();
    for (int now = 0; begin < end; now = 1 - now) {
        begin += DEPTH;
        if (begin < end) {
            left.fetch(a, begin);
            right.fetch(b, begin);
        }
        store.watch(rows[now]);
        multiply<Tile>(sum, rows[now], columns[now]);
        if (begin < end) {
            left.put(rows[1 - now]);
            right.put(columns[1 - now]);
            __syncthreads();
        }
    }
    store_sums<Tile>(store, sum, first_row, first_column);
}
