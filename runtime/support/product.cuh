// The product behind every convolution: out[i, j] = sum over k of a(i, k) * b(j, k).
//
//   load stage    where elements of a or b come from (LoadStage): a spot for each lane, which is a
//                 row i of a or a row j of b, a spot for each step k, and how to read an element
//   product       tiles through shared memory, a small square of sums in each thread's registers
//   store stage   what becomes of a sum, and where it goes (StoreStage)
//
// A load stage says nothing of tiles.  The two spots of an element add up to a position in a map,
// which is read, or which lies outside and is zero: padding, the rest of a tile and odd sizes are
// all this one test, so that a stage that changes what it reads never changes the padding.
//
// While a tile is multiplied the next one is on its way in registers, and two tiles take turns in
// shared memory: one barrier a tile.  Sums run over k in ascending order, in every thread.
#pragma once
#include "real.cuh"

// Spot: half of a position in a map: what it adds to the element's offset, its row and its column.
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

// digits_of: i < COUNT taken apart; in 32 bits where COUNT allows, for there division is cheap.
template <long long COUNT>
static __device__ inline Digits digits_of(long long i, int middle, int inner)
{
    if (COUNT <= 0x7fffffff) {
        unsigned j = (unsigned)i / (unsigned)inner;
        unsigned outer = j / (unsigned)middle;
        return Digits{outer, (int)(j % (unsigned)middle), (int)((unsigned)i % (unsigned)inner)};
    }
    long long j = i / inner;
    return Digits{j / middle, (int)(j % middle), (int)(i % inner)};
}

// MatrixSide: the spots of one side of a matrix: count lines, apart from each other.
struct MatrixSide {
    long long count, apart;
    __device__ inline Spot operator()(long long i) const
    {
        return i < count ? Spot{i * apart, 0, 0} : nowhere();
    }
};

// LoadStage: the plain one: maps of HEIGHT x WIDTH (1 x 1 for a matrix), of which PACK elements
// that lie side by side, along the steps or else along the lanes, are read at once.
template <int PACK, bool STEPS, long long HEIGHT, long long WIDTH, class Lane, class Step>
struct LoadStage {
    static constexpr int V = PACK;
    static constexpr bool ALONG_STEPS = STEPS;
    static constexpr unsigned H = HEIGHT, W = WIDTH;
    const real *from;
    Lane lane;
    Step step;
    __device__ inline Pack<V> read(long long i) const { return *(const Pack<V> *)(from + i); }
};

// load_stage: a LoadStage whose last two types follow from the arguments.
template <int V, bool STEPS, long long H, long long W, class Lane, class Step>
static __device__ inline LoadStage<V, STEPS, H, W, Lane, Step> load_stage(const real *from,
                                                                          Lane lane, Step step)
{
    return {from, lane, step};
}

// StoreStage: row(i) is where in `to` column 0 of row i lies, or -1 for none; value(at, j, sum) is
// what is stored at element `at` of it, in column j < COUNT.
template <int COUNT, class Row, class Value>
struct StoreStage {
    static constexpr int COLUMNS = COUNT;
    real *to;
    Row row;
    Value value;
};

// store_stage: a StoreStage whose last two types follow from the arguments.
template <int COLUMNS, class Row, class Value>
static __device__ inline StoreStage<COLUMNS, Row, Value> store_stage(real *to, Row row, Value value)
{
    return {to, row, value};
}

// Tile: a block makes R x C sums, a thread RE x CE of them (multiples of 4), DEPTH steps at a time.
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

// Panel: how the block brings LANES lanes x DEPTH steps of one operand to shared memory.  Threads
// run along memory: along the steps of a lane (Load::ALONG_STEPS) or along the lanes of a step.
template <class Load, int LANES, class Tile>
struct Panel {
    static constexpr int V = Load::V, DEPTH = Tile::DEPTH, WIDTH = LANES + Tile::PAD;
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

// multiply_tiles: adds the product of two tiles in shared memory to the thread's sums.
template <class Tile>
static __device__ inline void multiply_tiles(real (*sum)[Tile::COLUMNS_EACH],
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

// store_sums: stores what the store stage makes of the thread's sums, four at once where rows of
// the result allow.
template <class Tile, class Out>
static __device__ inline void store_sums(const Out &out, real (*sum)[Tile::COLUMNS_EACH],
                                         long long first_row, int first_column)
{
    for (int i = 0; i < Tile::ROWS_EACH; i++) {
        long long row = out.row(first_row + Tile::row(i));
        for (int j = 0; j < Tile::COLUMNS_EACH; j += 4) {
            int column = first_column + Tile::column(j);
            int count = row < 0 ? 0 : Out::COLUMNS - column;  // how many of four are there
            Pack<4> four = {};
            for (int c = 0; c < 4; c++)
                if (c < count) four.at[c] = out.value(row + column + c, column + c, sum[i][j + c]);
            if (Out::COLUMNS % 4 == 0) {
                if (count > 0) *(Pack<4> *)(out.to + row + column) = four;
            } else {
                for (int c = 0; c < 4; c++)
                    if (c < count) out.to[row + column + c] = four.at[c];
            }
        }
    }
}

// tile_product: one block's tile of the sums over the steps [begin, end).  Returns, where sum_rows,
// the sum of row threadIdx.x of a in the tile over these steps.
template <class Tile, class A, class B, class Out>
static __device__ inline real tile_product(const A &a, const B &b, const Out &out,
                                           long long first_row, int first_column, long long begin,
                                           long long end, bool sum_rows)
{
    constexpr int DEPTH = Tile::DEPTH;
    alignas(16) __shared__ real rows[2][DEPTH][Tile::ROWS + Tile::PAD];
    alignas(16) __shared__ real columns[2][DEPTH][Tile::COLUMNS + Tile::PAD];
    real sum[Tile::ROWS_EACH][Tile::COLUMNS_EACH] = {}, row_sum = 0;
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
        if (sum_rows && threadIdx.x < Tile::ROWS)
            for (int k = 0; k < DEPTH; k++) row_sum += rows[now][k][threadIdx.x];
        multiply_tiles<Tile>(sum, rows[now], columns[now]);
        if (begin < end) {
            left.put(rows[1 - now]);
            right.put(columns[1 - now]);
            __syncthreads();
        }
    }
    store_sums<Tile>(out, sum, first_row, first_column);
    return row_sum;
}
