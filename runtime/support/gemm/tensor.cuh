// The GEMM of convolutions on tensor cores: a Tile for product.cuh.  Both operands pass through
// shared memory in STAGES buffers that take turns.  An operand that can be copied unchanged is
// copied during the arithmetic (copy_later), STAGES - 1 tiles ahead.  A prologue passes through
// registers, as far ahead.  There is one barrier a tile.
//
// An operand keeps its order in memory, rows of steps or rows of lanes, so that threads write to
// shared memory as they read.  Rows consist of chunks of 16 bytes.  The chunks of a row are
// permuted (XOR with bits of the row), so that the 8 rows of a matrix that is read at once are in
// different banks.
#pragma once
#include "mma.cuh"
#include "product.cuh"

// Staged: the layout of LANES x DEPTH elements of an operand in shared memory: rows of a lane's
// steps if ALONG, otherwise of a step's lanes.
template <class Element, int LANES, int DEPTH, bool ALONG>
struct Staged {
    static constexpr int CHUNK = 16 / (int)sizeof(typename Element::Stored);
    static constexpr int ROW = ALONG ? DEPTH : LANES, CHUNKS = ROW / CHUNK;
    static_assert((CHUNKS & (CHUNKS - 1)) == 0 && CHUNKS >= 4 && (!ALONG || CHUNKS <= 8),
                  "rows of 64 bytes and more, of 128 at most along steps");
    static __device__ int exchanged(int row)
    {
        return ALONG ? row / (8 / CHUNKS) % CHUNKS : Element::template exchanged<CHUNKS>(row);
    }
    static __device__ int at(int lane, int step)
    {
        const int row = ALONG ? lane : step, column = ALONG ? step : lane;
        return row * ROW + ((column / CHUNK) ^ exchanged(row)) * CHUNK + column % CHUNK;
    }
};

// load_fragment: the operand of an instruction: 16 lanes from `lane` on and Element::STEPS steps
// from `step` on.  word[h][s] is half h of the lanes, half s of the steps, for the calling thread.
template <class Element, class At, bool ALONG>
static __device__ inline void load_fragment(unsigned (&word)[2][2],
                                            const typename Element::Stored *staged, int lane,
                                            int step)
{
    const int own = (int)threadIdx.x % 32, matrix = own / 8;
    unsigned read[4];
    if constexpr (ALONG)
        load_matrices(read, &staged[At::at(lane + matrix / 2 * 8 + own % 8,
                                           step + matrix % 2 * (Element::STEPS / 2))]);
    else
        Element::template load_across<At>(read, staged, lane, step);
    for (int m = 0; m < 4; m++) word[m / 2][m % 2] = Element::operand(read[m]);
}

// TensorSharedTiles: both operands of STAGES tiles.
template <class Tile>
struct alignas(128) TensorSharedTiles {
    typename Tile::Stored rows[Tile::STAGES][Tile::ROWS * Tile::DEPTH];
    typename Tile::Stored columns[Tile::STAGES][Tile::COLUMNS * Tile::DEPTH];
};

// StagedLoad: moves a TileLoader's elements to Staged shared memory.  COPIED: the elements in
// memory need no conversion, and their pieces are large enough for copy_later.
template <class Tile, class Load>
struct StagedLoad {
    typedef typename Tile::Element Element;
    typedef typename Tile::Stored Stored;
    typedef Staged<Element, Load::COUNT, Tile::DEPTH, Load::ALONG> At;
    static constexpr int V = Load::WIDTH, BYTES = V * (int)sizeof(Stored);
    static constexpr bool COPIED =
        BYTES >= 4 && plain_width<typename Load::Source>(0) >= V &&
        std::is_same_v<std::decay_t<decltype(std::declval<const typename Load::Source &>()[0])>,
                       Stored>;
    // Begins to load the steps from k on: into the tile at `to`, or only into registers.
    static __device__ void begin(Load &load, Stored *to, long long k)
    {
        if constexpr (COPIED)
            load.each(k, [&](int i, bool inside, long long at) {
                if (Load::DOWN % Load::APART != 0 && Load::down(i) >= Load::DOWN) return;
                const int lane = Load::ALONG ? Load::down(i) : Load::across();
                const int step = Load::ALONG ? Load::across() : Load::down(i);
                copy_later<BYTES>(to + At::at(lane, step), &load.from[inside ? at : 0], inside);
            });
        else
            load.fetch(k);
    }
    // Stores the registers, if the elements are not COPIED.
    static __device__ void end(const Load &load, Stored *to)
    {
        if constexpr (!COPIED)
            load.put([to](int lane, int step, const Vec<V> &vec) {
                Vec<V, Stored> stored;
                UNROLL for (int j = 0; j < V; j++) stored.at[j] = Element::store(vec.at[j]);
                store_shared(to + At::at(lane, step), stored);
            });
    }
};

// tensor_sums: the sums of a TensorTile.  They add Element::STEPS steps at a time, in order; the
// hardware's order inside of these is constant.
template <class Tile, class A, class B, class Block>
static __device__ inline real tensor_sums(TensorSharedTiles<Tile> &shared, A &a, B &b,
                                          const Block &block, long long begin, long long end,
                                          bool sum_rows,
                                          real (&sum)[Tile::ROWS_EACH][Tile::COLUMNS_EACH])
{
    typedef typename Tile::Element Element;
    typedef StagedLoad<Tile, A> LoadA;
    typedef StagedLoad<Tile, B> LoadB;
    constexpr int STAGES = Tile::STAGES, AHEAD = STAGES - 1;
    constexpr int HIGH = Tile::ROWS_EACH / 2, WIDE = Tile::COLUMNS_EACH / 4;
    real row_sum = 0;

    a.start(block.row);
    b.start(block.column);
    for (int s = 0; s < AHEAD; s++) {
        if (begin + s * Tile::DEPTH < end) {
            LoadA::begin(a, shared.rows[s], begin + s * Tile::DEPTH);
            LoadB::begin(b, shared.columns[s], begin + s * Tile::DEPTH);
            LoadA::end(a, shared.rows[s]);
            LoadB::end(b, shared.columns[s]);
        }
        end_copies();
    }
    for (int now = 0; begin < end; begin += Tile::DEPTH, now = now + 1 < STAGES ? now + 1 : 0) {
        const int next = now > 0 ? now - 1 : AHEAD;     // the tile that was multiplied last
        const long long later = begin + AHEAD * Tile::DEPTH;
        wait_for_copies<AHEAD - 1>();
        __syncthreads();
        if (later < end) {
            LoadA::begin(a, shared.rows[next], later);
            LoadB::begin(b, shared.columns[next], later);
        }
        end_copies();
        UNROLL for (int k = 0; k < Tile::DEPTH; k += Element::STEPS) {
            unsigned left[HIGH][2][2], right[WIDE][2][2];
            UNROLL for (int i = 0; i < HIGH; i++)
                load_fragment<Element, typename LoadA::At, A::ALONG>(
                    left[i], shared.rows[now], Tile::first_row() + 16 * i, k);
            UNROLL for (int j = 0; j < WIDE; j++)
                load_fragment<Element, typename LoadB::At, B::ALONG>(
                    right[j], shared.columns[now], Tile::first_column(j), k);
            UNROLL for (int i = 0; i < HIGH; i++) {
                const unsigned rows[4] = {left[i][0][0], left[i][1][0], left[i][0][1],
                                          left[i][1][1]};
                UNROLL for (int j = 0; j < 2 * WIDE; j++)
                    Element::multiply(&sum[2 * i][2 * j], &sum[2 * i + 1][2 * j], rows,
                                      right[j / 2][j % 2]);
            }
        }
        if (sum_rows && threadIdx.x < Tile::ROWS)
            for (int k = 0; k < Tile::DEPTH; k++)
                row_sum += Element::load(shared.rows[now][LoadA::At::at((int)threadIdx.x, k)]);
        if (later < end) {
            LoadA::end(a, shared.rows[next]);
            LoadB::end(b, shared.columns[next]);
        }
    }
    return row_sum;
}

// TensorTile: a block computes R x C sums, a warp WARP_R x WARP_C of them (multiples of 16), of
// products of Elements.  Warps take 16 columns in turn, so that those of all warps are adjacent.
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
#error "tensor-core products need sm_80 or later: nvcc -arch=sm_80, or cnnc --gpu t4 (f16, bf16)"
#endif
template <class E, int R, int C, int WARP_R, int WARP_C, int S>
struct TensorTile {
    typedef E Element;
    typedef typename E::Stored Stored;
    static constexpr int ROWS = R, COLUMNS = C, ROWS_EACH = WARP_R / 8, COLUMNS_EACH = WARP_C / 4;
    static constexpr int STAGES = S, DEPTH = 64 / (int)sizeof(Stored), WARPS_WIDE = C / WARP_C;
    static constexpr int WIDE = 4 * WARPS_WIDE, THREADS = 32 * (R / WARP_R) * WARPS_WIDE;
    static constexpr int WIDEST = 16 / (int)sizeof(Stored);
    template <int COUNT>
    static constexpr int VEC = COUNT % WIDEST == 0         ? WIDEST
                                : COUNT % (WIDEST / 2) == 0 ? WIDEST / 2
                                : COUNT % 2 == 0            ? 2
                                                            : 1;
    template <int COUNT>
    static constexpr int RUN = COUNT % 2 == 0 ? 2 : 1;
    typedef TensorSharedTiles<TensorTile> SharedTiles;
    static __device__ int warp() { return (int)threadIdx.x / 32; }
    static __device__ int first_row() { return warp() / WARPS_WIDE * WARP_R; }
    static __device__ int first_column(int j)
    {
        return (j * WARPS_WIDE + warp() % WARPS_WIDE) * 16;
    }
    // Returns the tile's row or column of a thread's i-th one, by the layout of fragments.
    static __device__ int row(int i) { return first_row() + 8 * i + (int)threadIdx.x % 32 / 4; }
    static __device__ int column(int i)
    {
        return first_column(i / 4) + i % 4 / 2 * 8 + (int)threadIdx.x % 4 * 2 + i % 2;
    }
    template <class A, class B, class Block>
    static __device__ real sums(SharedTiles &shared, A &a, B &b, const Block &block,
                                long long begin, long long end, bool sum_rows,
                                real (&sum)[ROWS_EACH][COLUMNS_EACH])
    {
        return tensor_sums<TensorTile>(shared, a, b, block, begin, end, sum_rows, sum);
    }
};
