// The GEMM of every convolution: out[i, j] = sum over k of a(i, k) * b(j, k).
//
//   tile loader   loads elements of a or b (TileLoader) by an index over the lanes, which are
//                 rows i of a or rows j of b, and one over the steps k, through a map
//   product       tiles through shared memory, some sums in each thread's registers: a Tile, which
//                 is a GemmTile, or a TensorTile (tensor.cuh) on tensor cores
//   store stage   place(i): the offset of row i in the result; make(at, j, sums): the values to
//                 store for a Vec of sums from i, j on
//
// Lane and step have an offset each.  Their sum is a position in a map; outside of the map the
// element is zero.  This one test covers padding, the rest of a tile and odd sizes.
//
// The members of a Tile: ROWS x COLUMNS sums of a block of THREADS threads. Each thread has
// ROWS_EACH x COLUMNS_EACH of them; its sum i, j is in row(i) and column(j) of the tile. WIDE: four
// columns of all threads are 4 * WIDE adjacent columns. DEPTH: steps at a time. VEC<n> and RUN<n>:
// how many elements are read and written at once if n are adjacent; RUN<n> columns of a thread are.
// SharedTiles: its shared memory. sums(shared, a, b, block, begin, end, sum_rows, sum): adds the
// thread's part of the block's tile over the steps [begin, end) to sum; if sum_rows it returns the
// sum of row threadIdx.x of a.
#pragma once
#include "../vec/load.cuh"
#include "mul_add.cuh"
#include "../vec/real.cuh"
#include "../vec/unroll.cuh"

// Offset2d: a part of a position in a map: the element's offset, row and column.
struct Offset2d { long long offset; int h, w; };

// Axis: `count` points from `first` on, `apart` positions apart; a position is `stride` elements.
struct Axis { int count = 1, first = 0, apart = 0; long long stride = 0; };

// Im2colIndex: the offset of i = ((n * h.count + h) * w.count + w) * c.count + c < end, with images
// `image` elements apart.  If i is `small`, below 2^31, 32 bits are enough.
struct Im2colIndex {
    long long end, image;
    bool small = false;
    Axis h = {}, w = {}, c = {};
    template <class Index>
    __device__ Offset2d digits(Index i) const
    {
        const Index line = i / c.count / w.count, n = image ? line / h.count : 0;
        const int y = h.first + (int)(line - n * h.count) * h.apart;
        const int x = w.first + (int)(i / c.count % w.count) * w.apart;
        return {n * image + y * h.stride + x * w.stride + (int)(i % c.count) * c.stride, y, x};
    }
    __device__ Offset2d operator()(long long i) const
    {
        if (i >= end) return {0, -(1 << 29), 0};  // outside of every map
        return small ? digits((unsigned)i) : digits(i);
    }
};

// TileLoader: loads LANES x DEPTH elements of an operand into registers, V adjacent ones a thread.
// The operand is maps of height x width (1 x 1: a matrix) from element `first` on, zero outside.
// Lane and Im2colIndex return the Offset2d of a lane and of a step.
template <class Tile, int LANES, int V, bool ALONG_STEPS, class X = const real *,
          class Lane = Im2colIndex>
struct TileLoader {
    typedef X Source;
    static constexpr int WIDTH = V, COUNT = LANES;
    static constexpr bool ALONG = ALONG_STEPS;
    static constexpr int ACROSS = (ALONG_STEPS ? Tile::DEPTH : LANES) / V;
    static constexpr int DOWN = ALONG_STEPS ? LANES : Tile::DEPTH, APART = Tile::THREADS / ACROSS;
    static constexpr int EACH = (DOWN + APART - 1) / APART;
    static_assert(Tile::THREADS % ACROSS == 0, "a thread keeps its place across");
    X from;
    long long first;
    int height, width;
    Lane lane;
    Im2colIndex step;
    Offset2d lanes[ALONG_STEPS ? EACH : 1] = {};
    Vec<V> held[EACH] = {};
    static __device__ int across() { return (int)threadIdx.x % ACROSS * V; }
    static __device__ int down(int i) { return (int)threadIdx.x / ACROSS + i * APART; }
    __device__ void start(long long begin)
    {
        UNROLL for (int i = 0; i < (ALONG_STEPS ? EACH : 1); i++)
            lanes[i] = lane(begin + (ALONG_STEPS ? down(i) : across()));
    }
    // Calls meet(i, inside, at) for the thread's vectors i of the steps from k on.
    template <class Meet>
    __device__ void each(long long k, const Meet &meet) const
    {
        UNROLL for (int i = 0; i < EACH; i++) {
            const Offset2d a = lanes[ALONG_STEPS ? i : 0];
            const Offset2d b = step(k + (ALONG_STEPS ? across() : down(i)));
            const bool inside = (unsigned)(a.h + b.h) < (unsigned)height &&
                                (unsigned)(a.w + b.w) < (unsigned)width;
            meet(i, inside, first + a.offset + b.offset);
        }
    }
    __device__ void fetch(long long k)
    {
        each(k, [this](int i, bool inside, long long at) {
            held[i] = inside ? load_vec<V>(from, at) : Vec<V>{};
        });
    }
    // Calls put(lane, step, vec) for the fetched vectors; lane and step count from the tile's
    // first.
    template <class Put>
    __device__ void put(const Put &put) const
    {
        UNROLL for (int i = 0; i < EACH; i++)
            if (DOWN % APART == 0 || down(i) < DOWN)
                put(ALONG_STEPS ? down(i) : across(), ALONG_STEPS ? across() : down(i), held[i]);
    }
};

// GemmTile: a block has R x C sums, a thread RE x CE of them (multiples of 4).
template <int R, int C, int RE, int CE>
struct GemmTile {
    static constexpr int ROWS = R, COLUMNS = C, ROWS_EACH = RE, COLUMNS_EACH = CE;
    static constexpr int HIGH = R / RE, WIDE = C / CE, THREADS = HIGH * WIDE;  // in threads
    static constexpr int DEPTH = 64 / (int)sizeof(real), PAD = 4;  // PAD avoids bank conflicts
    template <int COUNT> static constexpr int VEC = COUNT % 4 == 0 ? 4 : 1;
    template <int COUNT> static constexpr int RUN = VEC<COUNT>;
    struct alignas(16) SharedTiles { real rows[2][DEPTH][R + PAD], columns[2][DEPTH][C + PAD]; };
    // Returns the tile's index of a thread's i-th row or column; 4 adjacent ones form a group.
    static __device__ int at(int i, int of, int own) { return 4 * (i / 4 * of + own) + i % 4; }
    static __device__ int row(int i) { return at(i, HIGH, (int)threadIdx.x / WIDE); }
    static __device__ int column(int i) { return at(i, WIDE, (int)threadIdx.x % WIDE); }
    // Stores the vectors of a loader to a tile in shared memory: for each step its lanes.
    template <class Load, int PITCH>
    static __device__ void put(const Load &load, real (*tile)[PITCH])
    {
        load.put([tile](int lane, int step, const Vec<Load::WIDTH> &vec) {
            for (int j = 0; j < Load::WIDTH; j++)
                (Load::ALONG ? tile[step + j][lane] : tile[step][lane + j]) = vec.at[j];
        });
    }
    // Sums over k in ascending order.  Registers load the next tiles while these are multiplied;
    // two buffers in shared memory need one barrier a tile.
    template <class A, class B, class Block>
    static __device__ real sums(SharedTiles &tiles, A &a, B &b, const Block &block,
                                long long begin, long long end, bool sum_rows,
                                real (&sum)[RE][CE])
    {
        real row_sum = 0;
        a.start(block.row);
        b.start(block.column);
        a.fetch(begin);
        b.fetch(begin);
        for (int now = 0; begin < end; now = 1 - now) {
            put(a, tiles.rows[now]);
            put(b, tiles.columns[now]);
            __syncthreads();
            if ((begin += DEPTH) < end) {
                a.fetch(begin);
                b.fetch(begin);
            }
            for (int k = 0; k < DEPTH; k++) {
                real left[RE], right[CE];
                for (int i = 0; i < RE; i++) left[i] = tiles.rows[now][k][row(i)];
                for (int j = 0; j < CE; j++) right[j] = tiles.columns[now][k][column(j)];
                for (int i = 0; i < RE; i++)
                    for (int j = 0; j < CE; j++) sum[i][j] = mul_add(left[i], right[j], sum[i][j]);
            }
            if (sum_rows && threadIdx.x < R)
                for (int k = 0; k < DEPTH; k++) row_sum += tiles.rows[now][k][threadIdx.x];
        }
        return row_sum;
    }
};

// OutputRow: the offset of a row of sums in the result, valid if `inside`.
struct OutputRow { bool inside; long long at; };

// tile_product: stores make(at, column, sums) of a Tile's sums to result at place(row).  It makes
// all before it stores one, because make may read the result.
template <class Tile, int COLUMNS, class A, class B, class Block, class Result, class Where,
          class Make>
static __device__ inline real tile_product(A &a, B &b, const Block &block, long long begin,
                                           long long end, bool sum_rows, const Result &result,
                                           const Where &place, const Make &make)
{
    constexpr int V = Tile::template RUN<COLUMNS>;
    __shared__ typename Tile::SharedTiles shared;
    real sum[Tile::ROWS_EACH][Tile::COLUMNS_EACH] = {};

    const real row_sum = Tile::sums(shared, a, b, block, begin, end, sum_rows, sum);
    auto each = [&](const auto &meet) {
        UNROLL for (int i = 0; i < Tile::ROWS_EACH; i++) {
            const OutputRow row = place(block.row + Tile::row(i));
            UNROLL for (int j = 0; j < Tile::COLUMNS_EACH; j += V) {
                const int column = block.column + Tile::column(j);
                if (row.inside && (COLUMNS % Tile::COLUMNS == 0 || column < COLUMNS))
                    meet(sum[i] + j, row.at + column, column);
            }
        }
    };
    each([&](real *own, long long at, int column) {
        Vec<V> sums;
        UNROLL for (int k = 0; k < V; k++) sums.at[k] = own[k];
        const Vec<V> made = make(at, column, sums);
        UNROLL for (int k = 0; k < V; k++) own[k] = made.at[k];
    });
    each([&](const real *own, long long at, int) {
        Vec<V> made;
        UNROLL for (int k = 0; k < V; k++) made.at[k] = own[k];
        store_vec(result, at, made);
    });
    return row_sum;
}
