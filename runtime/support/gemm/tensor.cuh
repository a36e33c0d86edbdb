// The GEMM of convolutions on tensor cores: a Tile for product.cuh.  Both operands pass through
// shared memory in STAGES buffers that take turns.  An operand that can be copied unchanged is
// copied during the arithmetic (copy_later), STAGES - 1 tiles ahead.  A prologue passes through
// registers, as far ahead.  There is one barrier a tile.
//
// An operand keeps its order in memory, rows of steps or rows of lanes, so that threads write to
// shared memory as they read.  Rows consist of chunks of 16 bytes.  The chunks of a row are
// permuted (XOR with bits of the row).  So the 8 rows of a matrix that is read at once are in
// different banks.
#pragma once
#include "mma.cuh"
#include "product.cuh"

// StagedLoad: moves a TileLoader's elements to shared memory, in rows of a lane's steps if ALONG,
// otherwise of a step's lanes.  COPIED: the elements in memory need no conversion, and their pieces
// are large enough for copy_later.
template <class Tile, class Load>
struct StagedLoad {
    typedef typename Tile::Element Element;
    typedef typename Tile::Stored Stored;
    static constexpr bool ALONG = Load::ALONG;
    static constexpr int CHUNK = 16 / (int)sizeof(Stored), ROW = ALONG ? Tile::DEPTH : Load::COUNT;
    static constexpr int CHUNKS = ROW / CHUNK;
    static_assert((CHUNKS & (CHUNKS - 1)) == 0 && CHUNKS >= 4 && (!ALONG || CHUNKS <= 8),
                  "rows of 64 bytes and more, of 128 at most along steps");
    static constexpr int V = Load::WIDTH, BYTES = V * (int)sizeof(Stored);
    static constexpr bool COPIED =
        BYTES >= 4 && plain_width<typename Load::Source>(0) >= V &&
        std::is_same_v<std::decay_t<decltype(std::declval<const typename Load::Source &>()[0])>,
                       Stored>;
    static __device__ int at(int lane, int step)
    {
        const int row = ALONG ? lane : step, column = ALONG ? step : lane;
        const int exchanged =
            ALONG ? row / (8 / CHUNKS) % CHUNKS : Element::template exchanged<CHUNKS>(row);
        return row * ROW + ((column / CHUNK) ^ exchanged) * CHUNK + column % CHUNK;
    }
    static __device__ int place(int i) { return at(Load::lane(i), Load::step(i)); }
    // Begins to load the steps from k on: into the tile at `to`, or only into registers.
    static __device__ void begin(Load &load, Stored *to, long long k)
    {
        if constexpr (!COPIED)
            load.fetch(k);
        else
            UNROLL for (int i = 0; i < Load::EACH; i++) {
                long long from;
                const bool inside = load.find(i, k, from);
                if (!Load::has(i)) continue;
                copy_later<BYTES>(to + place(i), &load.from[inside ? from : 0], inside);
            }
    }
    // Stores the registers, if the elements are not COPIED.
    static __device__ void end(const Load &load, Stored *to)
    {
        UNROLL for (int i = 0; !COPIED && i < Load::EACH; i++) {
            Vec<V, Stored> stored;
            if (!Load::has(i)) continue;
            UNROLL for (int j = 0; j < V; j++) stored.at[j] = Element::store(load.held[i].at[j]);
            store_shared(to + place(i), stored);
        }
    }
};

// Quarter: the halves of lanes and steps that word m of mma's operands has: of the left operand, or
// of two right ones.
template <bool LEFT>
struct Quarter {
    static __device__ constexpr int lanes(int m) { return LEFT ? m % 2 : m / 2; }
    static __device__ constexpr int steps(int m) { return LEFT ? m / 2 : m % 2; }
};

// load_fragment: operands of instructions: 16 lanes from `lane` on and Element::STEPS steps from
// `step` on; word[m] is quarter m of the calling thread.
template <class At, class Order>
static __device__ inline void load_fragment(unsigned (&word)[4], const typename At::Stored *staged,
                                            int lane, int step)
{
    typedef typename At::Element Element;
    const int own = (int)threadIdx.x % 32, m = own / 8;
    if constexpr (At::ALONG)
        load_matrices(word, &staged[At::at(lane + Order::lanes(m) * 8 + own % 8,
                                           step + Order::steps(m) * (Element::STEPS / 2))]);
    else
        Element::template load_across<At, Order>(word, staged, lane, step);
    for (unsigned &each : word) each = Element::operand(each);
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
    static constexpr int BLOCKS = 4 / (int)sizeof(Stored), WIDEST = 16 / (int)sizeof(Stored);
    template <int COUNT>
    static constexpr int VEC = COUNT % WIDEST == 0         ? WIDEST
                                : COUNT % (WIDEST / 2) == 0 ? WIDEST / 2
                                : COUNT % 2 == 0            ? 2
                                                            : 1;
    template <int COUNT>
    static constexpr int RUN = COUNT % 2 == 0 ? 2 : 1;
    struct alignas(128) SharedTiles { Stored rows[S][R * DEPTH], columns[S][C * DEPTH]; };
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
    // A sum's order is that of the steps, Element::STEPS at a time; among those it is the
    // hardware's, always the same.
    template <class A, class B>
    static __device__ real sums(SharedTiles &shared, A &a, B &b, long long begin, long long end,
                                real (&sum)[ROWS_EACH][COLUMNS_EACH], bool sum_rows = false)
    {
        typedef StagedLoad<TensorTile, A> LoadA;
        typedef StagedLoad<TensorTile, B> LoadB;
        constexpr int AHEAD = STAGES - 1, LEFT = ROWS_EACH / 2, RIGHT = COLUMNS_EACH / 4;
        real row_sum = 0;

        for (int s = 0; s < AHEAD; s++) {
            if (begin + s * DEPTH < end) {
                LoadA::begin(a, shared.rows[s], begin + s * DEPTH);
                LoadB::begin(b, shared.columns[s], begin + s * DEPTH);
                LoadA::end(a, shared.rows[s]);
                LoadB::end(b, shared.columns[s]);
            }
            end_copies();
        }
        for (int now = 0; begin < end; begin += DEPTH, now = now + 1 < STAGES ? now + 1 : 0) {
            const int next = now > 0 ? now - 1 : AHEAD;     // the one that was multiplied last
            const long long later = begin + AHEAD * DEPTH;
            wait_for_copies<AHEAD - 1>();
            __syncthreads();
            if (later < end) {
                LoadA::begin(a, shared.rows[next], later);
                LoadB::begin(b, shared.columns[next], later);
            }
            end_copies();
            UNROLL for (int k = 0; k < DEPTH; k += Element::STEPS) {
                unsigned left[LEFT][4], right[RIGHT][4];
                UNROLL for (int i = 0; i < LEFT; i++)
                    load_fragment<LoadA, Quarter<true>>(left[i], shared.rows[now],
                                                        first_row() + 16 * i, k);
                UNROLL for (int j = 0; j < RIGHT; j++)
                    load_fragment<LoadB, Quarter<false>>(right[j], shared.columns[now],
                                                         first_column(j), k);
                UNROLL for (int i = 0; i < LEFT; i++)
                    UNROLL for (int j = 0; j < 2 * RIGHT; j++)
                        Element::multiply(&sum[2 * i][2 * j], &sum[2 * i + 1][2 * j], left[i],
                                          &right[j / 2][j % 2 * 2]);
            }
            if (sum_rows && threadIdx.x < ROWS)
                for (int k = 0; k < DEPTH; k++)
                    row_sum += Element::load(shared.rows[now][LoadA::at((int)threadIdx.x, k)]);
            if (later < end) {
                LoadA::end(a, shared.rows[next]);
                LoadB::end(b, shared.columns[next]);
            }
        }
        return row_sum;
    }
};
