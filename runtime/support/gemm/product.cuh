// The GEMM of every convolution: out[i, j] = sum over k of a(i, k) * b(j, k).
//
//   TileLoader    loads elements of a or b by an index over the lanes, which are rows i of a or
//                 rows j of b, and one over the steps k, through a map
//   Tile          multiplies tiles in shared memory, with some sums in each thread's registers: a
//                 GemmTile, or a TensorTile (tensor.cuh) on tensor cores
//   each_run      visits runs of adjacent sums, which the kernel changes
//   store_runs    stores them
//
// Lane and step have an offset each.  Their sum is a position in a map; outside of the map the
// element is zero.  This one test covers padding, the rest of a tile and odd sizes.
//
// The members of a Tile: ROWS x COLUMNS sums of a block of THREADS threads. Each thread has
// ROWS_EACH x COLUMNS_EACH of them; its sum i, j is in row(i) and column(j) of the tile. WIDE: four
// columns of all threads are 4 * WIDE adjacent columns. DEPTH: steps at a time. VEC<n> and RUN<n>:
// how many elements are read and written at once if n are adjacent; RUN<n> columns of a thread are.
// blocks<A, B>(): how many an SM should have registers for, with such operands. SharedTiles: its
// shared memory; sums(shared, a, b, begin, end, sum, sum_rows): adds the thread's part of the
// block's tile over the steps [begin, end) to sum; if sum_rows it returns the sum of row
// summed_row() of a. A thread without one has a row beyond all.
#pragma once
#include <type_traits>
#include "../vec/load.cuh"
#include "../vec/mul_add.cuh"
#include "../vec/real.cuh"
#include "../vec/unroll.cuh"

// Offset2d: a part of a position in a map: the element's offset, row, column and channel.
struct Offset2d { long long offset; int h, w, c = 0; };

// Im2colIndex: the offset of i = ((n * h.count + h) * w.count + w) * channels + c < end: images are
// `image` elements apart, channels `apart`.  Along an axis, `count` points begin at position
// `first`, `step` positions apart; a position is `stride` elements.  If i and all offsets are
// `small`, below 2^30, 32 bits are enough.
struct Im2colIndex {
    struct Axis { int count = 1, first = 0, step = 0; long long stride = 0; };
    long long end, image;
    bool small = false;
    Axis h = {}, w = {};
    int channels = 1;
    long long apart = 1;
    // i is known to be below an end that is a multiple of `tile`.
    __device__ Offset2d operator()(long long i, int tile = 0) const
    {
        const auto digits = [this](auto i) -> Offset2d {
            typedef std::make_signed_t<decltype(i)> Int;
            const auto pixel = i / channels, line = pixel / w.count;
            const auto n = image ? line / h.count : 0;
            const int y = h.first + (int)(line - n * h.count) * h.step;
            const int x = w.first + (int)(pixel - line * w.count) * w.step;
            const int c = (int)(i - pixel * channels);
            return {(Int)n * (Int)image + y * (Int)h.stride + x * (Int)w.stride + c * (Int)apart,
                    y, x, c};
        };
        Offset2d at = small ? digits((unsigned)i) : digits(i);
        if ((tile == 0 || end % tile) && i >= end) at.h = -(1 << 29);   // outside of every map
        return at;
    }
    // The distance of elements whose indices follow a multiple of `tile`, or 0 if it varies.
    __device__ long long pace(int tile) const
    {
        return channels % tile == 0 ? apart : channels * h.count * w.count == 1 ? image : 0;
    }
};

// TileLoader: loads LANES x DEPTH elements of an operand into registers, V adjacent ones a
// thread.  The operand is maps of height x width (1 x 1: a matrix) from element `first` on, zero
// outside.  A lane and a step each have an Offset2d; the two add up.  SINGLE: the rows of a matrix
// have no vectors, so that elements are loaded one by one.
template <class Tile, int LANES, int V, bool ALONG_STEPS, class X = const real *,
          bool SINGLE = false>
struct TileLoader {
    typedef X Source;
    static constexpr int WIDTH = V, COUNT = LANES;
    static constexpr bool SINGLY = SINGLE;
    static constexpr bool ALONG = ALONG_STEPS;
    static constexpr int ACROSS = (ALONG ? Tile::DEPTH : LANES) / V;
    static constexpr int DOWN = ALONG ? LANES : Tile::DEPTH, APART = Tile::THREADS / ACROSS;
    static constexpr int EACH = (DOWN + APART - 1) / APART;
    static_assert(Tile::THREADS % ACROSS == 0, "a thread keeps its place across");
    X from;
    long long first;
    int height, width;
    Im2colIndex steps;
    Offset2d lanes[ALONG ? EACH : 1] = {};
    Vec<V> held[EACH] = {};
    // The place in the tile of element j of the thread's vector i, which the last may not have.
    static __device__ int across() { return (int)(threadIdx.x % ACROSS) * V; }
    static __device__ int down(int i) { return (int)(threadIdx.x / ACROSS) + i * APART; }
    static __device__ int lane(int i, int j = 0) { return ALONG ? down(i) : across() + j; }
    static __device__ int step(int i, int j = 0) { return ALONG ? across() + j : down(i); }
    static __device__ bool has(int i) { return DOWN % APART == 0 || down(i) < DOWN; }
    template <class Lanes>
    __device__ void start(long long begin, const Lanes &index)
    {
        UNROLL for (int i = 0; i < (ALONG ? EACH : 1); i++)
            lanes[i] = index(begin + lane(i), LANES);
    }
    // The part of the position of vector i that is the same for all steps.
    __device__ long long place(int i) const
    {
        return first + lanes[ALONG ? i : 0].offset + step(i) * steps.pace(Tile::DEPTH);
    }
    // Sets the rest of it for the steps from k on; true if the element is in a map.
    __device__ bool find(int i, long long k, long long &at) const
    {
        const Offset2d a = lanes[ALONG ? i : 0];
        const Offset2d b = steps(steps.pace(Tile::DEPTH) ? k : k + step(i), 1);
        at = b.offset;
        const bool step_is_in = (steps.end - k) % Tile::DEPTH == 0 ||
                                (steps.small ? (int)k + step(i) < (int)steps.end
                                             : k + step(i) < steps.end);
        const bool h_is_in = (unsigned)(a.h + b.h) < (unsigned)height;
        const bool w_is_in = (unsigned)(a.w + b.w) < (unsigned)width;
        return step_is_in & h_is_in & w_is_in;      // && would make branches
    }
    // Begins to load the steps from k on; finish completes it.
    __device__ void fetch(long long k)
    {
        UNROLL for (int i = 0; i < EACH; i++) {
            long long at;
            const bool found = has(i) && find(i, k, at);    // a lane that it has not has no bounds
            if constexpr (SINGLE)
                UNROLL for (int j = 0; j < V; j++)
                    held[i].at[j] = has(i) && lanes[i].h >= 0 &&
                                            (int)k + step(i) < (int)steps.end - j
                                        ? from[place(i) + at + j]
                                        : (real)0;
            else
                held[i] = found ? load_vec<V>(from, place(i) + at) : Vec<V>{};
        }
    }
    __device__ void finish() { }
};

// Reals: the Terms of a GemmTile of reals.
struct Reals {
    static __device__ real add(real a, real b, real sum) { return mul_add(a, b, sum); }
};

// GemmTile: a block has R x C sums, a thread RE x CE of them (multiples of 4).  Terms adds products
// of elements, which are reals or have their bits.
template <int R, int C, int RE, int CE, class T = Reals>
struct GemmTile {
    typedef T Terms;
    static constexpr int ROWS = R, COLUMNS = C, ROWS_EACH = RE, COLUMNS_EACH = CE;
    static constexpr int HIGH = R / RE, WIDE = C / CE, THREADS = HIGH * WIDE;
    template <class A, class B> static constexpr int blocks() { return 1; }
    static constexpr int DEPTH = 64 / (int)sizeof(real), PAD = 4;  // PAD avoids bank conflicts
    template <int COUNT> static constexpr int VEC = COUNT % 4 == 0 ? 4 : 1;
    template <int COUNT> static constexpr int RUN = VEC<COUNT>;
    static __device__ int summed_row() { return threadIdx.x < R ? (int)threadIdx.x : 1 << 30; }
    struct alignas(32) SharedTiles { real rows[2][DEPTH][R + PAD], columns[2][DEPTH][C + PAD]; };
    // Returns the tile's index of a thread's i-th row or column; 4 adjacent ones form a group.
    static __device__ int at(int i, int of, int own) { return 4 * (i / 4 * of + own) + i % 4; }
    static __device__ int row(int i) { return at(i, HIGH, (int)threadIdx.x / WIDE); }
    static __device__ int column(int i) { return at(i, WIDE, (int)threadIdx.x % WIDE); }
    // Stores the vectors of a loader to a tile in shared memory: for each step its lanes.
    template <class Load, int PITCH>
    static __device__ void put(Load &load, real (*tile)[PITCH])
    {
        load.finish();
        UNROLL for (int i = 0; i < Load::EACH; i++)
            for (int j = 0; j < Load::WIDTH && Load::has(i); j++)
                tile[Load::step(i, j)][Load::lane(i, j)] = load.held[i].at[j];
    }
    // Sums over k in ascending order.  Registers load the next tiles while these are multiplied;
    // two buffers in shared memory need one barrier a tile.
    template <class A, class B, class K>
    static __device__ real sums(SharedTiles &tiles, A &a, B &b, K begin, K end,
                                real (&sum)[RE][CE], bool sum_rows = false)
    {
        real row_sum = 0;
        if (begin < end) {
            a.fetch(begin);
            b.fetch(begin);
        }
        for (int now = 0; begin < end; now = 1 - now) {
            put(a, tiles.rows[now]);
            put(b, tiles.columns[now]);
            __syncthreads();
            if ((begin += DEPTH) < end) {
                a.fetch(begin);
                b.fetch(begin);
            }
            UNROLL for (int k = 0; k < DEPTH; k++) {
                real left[RE], right[CE];
                for (int i = 0; i < RE; i++) left[i] = tiles.rows[now][k][row(i)];
                for (int j = 0; j < CE; j++) right[j] = tiles.columns[now][k][column(j)];
                for (int i = 0; i < RE; i++)
                    for (int j = 0; j < CE; j++)
                        sum[i][j] = Terms::add(left[i], right[j], sum[i][j]);
            }
            if (sum_rows && threadIdx.x < R)
                for (int k = 0; k < DEPTH; k++) row_sum += tiles.rows[now][k][threadIdx.x];
        }
        return row_sum;
    }
};

// TILE_TWIN: returns the thread's part of what block_sums computes; the host runtime defines it.
#ifndef TILE_TWIN
#define TILE_TWIN(...)
#endif

// block_sums: Tile::sums over the lanes from `row` on of a and from `column` on of b, whose offsets
// `lanes_a` and `lanes_b` give.  The sums must be zero before.  A block calls it once.
template <class Tile, class A, class B, class LanesA, class LanesB, class K>
static __device__ inline real block_sums(typename Tile::SharedTiles &tiles, A &a, long long row,
                                         const LanesA &lanes_a, B &b, int column,
                                         const LanesB &lanes_b, K begin, K end,
                                         real (&sum)[Tile::ROWS_EACH][Tile::COLUMNS_EACH],
                                         bool sum_rows = false)
{
    TILE_TWIN(Tile, a, row, lanes_a, b, column, lanes_b, begin, end, sum, sum_rows);
    a.start(row, lanes_a);
    b.start(column, lanes_b);
    return Tile::sums(tiles, a, b, begin, end, sum, sum_rows);
}

// each_run: calls meet(run, place(row) + column, column) for the thread's runs of adjacent sums, as
// Vecs that may change.  The runs are in the first `rows` rows (FULL: in all) and COLUMNS columns;
// they are in the thread's rows from FROM to TO.
template <class Tile, int COLUMNS, bool FULL, int FROM = 0, int TO = Tile::ROWS_EACH, class Block,
          class Where, class Meet>
static __device__ inline void each_run(real (&sum)[Tile::ROWS_EACH][Tile::COLUMNS_EACH],
                                       const Block &block, long long rows, const Where &place,
                                       const Meet &meet)
{
    constexpr int V = Tile::template RUN<COLUMNS>;
    UNROLL for (int i = FROM; i < TO; i++) {
        const long long row = block.row + Tile::row(i), begin = place(row);
        UNROLL for (int j = 0; j < Tile::COLUMNS_EACH; j += V) {
            const int column = block.column + Tile::column(j);
            if (!(FULL || row < rows) || (COLUMNS % Tile::COLUMNS && column >= COLUMNS)) continue;
            Vec<V> run;
            UNROLL for (int k = 0; k < V; k++) run.at[k] = sum[i][j + k];
            meet(run, begin + column, column);
            UNROLL for (int k = 0; k < V; k++) sum[i][j + k] = run.at[k];
        }
    }
}

// store_runs: stores the sums to y as make(run, at, column) changes them.  The thread makes half of
// them, or a quarter in 32 bits, before it stores one, since y may be what make reads.  A struct Y
// may have a friend of this name, which may use the tiles in shared memory.
template <class Tile, int COLUMNS, bool FULL, int FROM = 0, class Y, class Tiles, class Sum,
          class Block, class Where, class Make>
static __device__ inline void store_runs(const Y &y, Tiles &tiles, Sum &sum, const Block &block,
                                         long long rows, const Where &place, const Make &make)
{
    constexpr int PARTS = sizeof y[0] < 4 ? 2 : 4, EACH = (Tile::ROWS_EACH + PARTS - 1) / PARTS;
    constexpr int TO = FROM + EACH < Tile::ROWS_EACH ? FROM + EACH : Tile::ROWS_EACH;
    each_run<Tile, COLUMNS, FULL, FROM, TO>(sum, block, rows, place, make);
    each_run<Tile, COLUMNS, FULL, FROM, TO>(
        sum, block, rows, place, [=](auto &run, long long at, int) { store_vec(y, at, run); });
    if constexpr (TO < Tile::ROWS_EACH)
        store_runs<Tile, COLUMNS, FULL, TO>(y, tiles, sum, block, rows, place, make);
}

// finish_sums: makes elements of the map of the sums, where y would do that when it stores them.  A
// struct Y that does has a friend of this name.  All threads of a block call it.
template <class Tile, int COLUMNS, class Y, class Tiles, class Sum, class Block>
static __device__ inline void finish_sums(const Y &, Tiles &, Sum &, const Block &)
{
}
