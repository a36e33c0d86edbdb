// The GEMM of convolutions on tensor cores: a Tile for product.cuh.  Both operands pass through
// shared memory in STAGES buffers that take turns.  An operand that can be copied unchanged is
// copied during the arithmetic (copy_later), STAGES - 1 tiles ahead.  A prologue of single elements
// computes with these copies, another passes through registers.  There is one barrier a tile.
//
// An operand keeps its order in memory, rows of steps or rows of lanes, so that threads write to
// shared memory as they read.  Rows consist of chunks of 16 bytes.  The chunks of a row are
// permuted (XOR with bits of the row).  So the 8 rows of a matrix that is read at once are in
// different banks.
#pragma once
#include "mma.cuh"
#include "product.cuh"
#include "register.cuh"

// ROLL: keeps the next loop.
#ifndef ROLL
#define ROLL _Pragma("unroll 1")
#endif

// is_made_of: whether made_of(x) has elements of type T.
template <class T, class X>
static constexpr bool is_made_of()
{
    return std::is_same_v<std::decay_t<decltype(made_of(std::declval<const X &>())[0])>, T>;
}

// StagedLoad: moves a TileLoader's elements to shared memory, in rows of a lane's steps if ALONG,
// otherwise of a step's lanes.  COPIED: the elements in memory need no conversion, and their pieces
// are large enough for copy_later.  MADE: the thread that has copied them computes with them there.
template <class Tile, class Load>
struct StagedLoad {
    typedef typename Tile::Element Element;
    typedef typename Tile::Stored Stored;
    static constexpr bool ALONG = Load::ALONG, MADE = HasTerms<typename Load::Source>::value;
    static constexpr int CHUNK = 16 / (int)sizeof(Stored), ROW = ALONG ? Tile::DEPTH : Load::COUNT;
    static constexpr int CHUNKS = ROW / CHUNK, EACH = Load::EACH;
    static_assert((CHUNKS & (CHUNKS - 1)) == 0 && CHUNKS >= 4 && (!ALONG || CHUNKS <= 8),
                  "rows of 64 bytes and more, of 128 at most along steps");
    static constexpr int V = Load::WIDTH, BYTES = V * (int)sizeof(Stored);
    Load &load;
    int own;                        // the place of the first vector in a tile
    unsigned inside = 0;            // a bit for each vector of tiles to be made: it is in a map
    typedef MapOf<typename Load::Source> Source;
    static constexpr bool COPIED =
        !Load::SINGLY && BYTES >= 4 && plain_width<Source>(0) >= V &&
        is_made_of<Stored, typename Load::Source>();
    // Pointers to the vectors, as far as they do not depend on the steps.
    static constexpr bool STEADY = COPIED && std::is_pointer_v<Source>;
    const Stored *from[STEADY && ALONG ? EACH : 1] = {};
    __device__ StagedLoad(Load &load)
        : load(load), own(in_register(at(Load::lane(0), Load::step(0))))
    {
        if constexpr (STEADY)
            UNROLL for (int i = 0; i < (ALONG ? EACH : 1); i++)
                from[i] = in_register(made_of(load.from) + load.place(i));
    }
    // A place 8 rows further on is 8 * ROW further; other bits of the column are bits of the place.
    static __device__ int at(int lane, int step)
    {
        const unsigned row = ALONG ? lane : step, column = ALONG ? step : lane;
        const unsigned exchanged =
            ALONG ? row / (8 / CHUNKS) % CHUNKS : Element::template exchanged<CHUNKS>(row);
        return (int)(row * ROW + ((column / CHUNK) ^ exchanged) * CHUNK + column % CHUNK);
    }
    __device__ int place(int i) const
    {
        return Load::APART % 8 ? at(Load::lane(i), Load::step(i)) : own + i * Load::APART * ROW;
    }
    // The channel of the vectors of the steps from k on, which have the same.
    __device__ int channel(long long k) const
    {
        const bool even = load.steps.pace(Tile::DEPTH) != 0;
        const int own = ALONG ? Load::across() : 0;
        const int step = ALONG ? load.steps(even ? k : k + own, 1).c + (even ? own : 0) : 0;
        return (int)load.first + load.lanes[0].c + step;
    }
    // Begins to load the steps from k on: into the tile at `to`, or only into registers.  `turn`
    // tiles are made before.
    __device__ void begin(Stored *to, long long k, int turn)
    {
        if constexpr (!COPIED)
            load.fetch(k);
        else
            UNROLL for (int i = 0; i < EACH; i++) {
                long long at;
                const bool found = load.find(i, k, at);
                if (MADE) inside |= (unsigned)found << (EACH * turn + i);
                if (!Load::has(i)) continue;
                const long long own = ALONG ? 0 : load.place(i) - load.place(0);
                if constexpr (STEADY)
                    copy_later<BYTES>(
                        to + place(i),
                        element_at(from[ALONG ? i : 0] + own, at, load.steps.small), found);
                else
                    copy_later<BYTES>(to + place(i),
                                      &made_of(load.from)[found ? load.place(i) + at : 0], found);
            }
    }
    // Stores the registers, if the elements are not COPIED.
    __device__ void end(Stored *to)
    {
        if constexpr (!COPIED) load.finish();
        UNROLL for (int i = 0; !COPIED && i < EACH; i++) {
            Vec<V, Stored> stored;
            if (!Load::has(i)) continue;
            UNROLL for (int j = 0; j < V; j++) stored.at[j] = Element::store(load.held[i].at[j]);
            store_shared(to + place(i), stored);
        }
    }
    // Makes the elements of the steps from k on, of the thread's own copies, which have arrived.
    __device__ void make(Stored *tile, long long k)
    {
        if constexpr (COPIED && MADE) {
            const auto terms = load.from.template terms<V>(channel(k));
            UNROLL for (int i = 0; i < EACH; i++) {
                if (!(inside >> i & 1)) continue;
                Vec<V, Stored> *const chunk = (Vec<V, Stored> *)(tile + place(i));
                Vec<V, Stored> stored = *chunk;
                Vec<V> v;
                UNROLL for (int j = 0; j < V; j++) v.at[j] = Element::load(stored.at[j]);
                v = load.from.of(v, terms);
                UNROLL for (int j = 0; j < V; j++) stored.at[j] = Element::store(v.at[j]);
                store_shared(tile + place(i), stored);
            }
            inside >>= EACH;
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

// Fragments: operands of instructions from an operand's tile: of 16 lanes from a warp's first on.
template <class At, class Order>
struct Fragments {
    typedef typename At::Element Element;
    typedef typename At::Stored Stored;
    int own;                        // the place of the thread's part in a tile, in bytes
    __device__ Fragments(int first)
    {
        const int lane = (int)(threadIdx.x % 32), m = lane / 8;
        const int place = At::ALONG ? At::at(first + Order::lanes(m) * 8 + lane % 8,
                                             Order::steps(m) * (Element::STEPS / 2))
                                    : Element::template across<At, Order>(first, lane);
        own = in_register(place * (int)sizeof(Stored));
    }
    // Loads those `lane` lanes further on, Element::STEPS steps from `step` on; word[m] is quarter
    // m of the calling thread.
    __device__ void load(unsigned (&word)[4], const Stored *staged, int lane, int step) const
    {
        const auto at = [=](int lanes, int steps) {
            const int aside = (At::ALONG ? step + steps : lane + lanes) * (int)sizeof(Stored);
            return (const Stored *)((const char *)staged + (own ^ aside)) +
                   (At::ALONG ? lane + lanes : step + steps) * At::ROW;
        };
        if constexpr (At::ALONG) load_matrices(word, at(0, 0));
        else Element::template load_across<Order>(word, at);
        for (unsigned &each : word) each = Element::operand(each);
    }
};

// TensorTile: a block computes R x C sums, a warp WARP_R x WARP_C of them (multiples of 16), of
// products of Elements.  Warps take 16 columns in turn, so that those of all warps are adjacent.
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
#error "tensor-core products need sm_80 or later: nvcc -arch=sm_80, or cnnc --gpu t4 (f16, bf16)"
#endif
template <class E, int R, int C, int WARP_R, int WARP_C, int S>
struct TensorTile {
    typedef E Element, Terms;
    typedef typename E::Stored Stored;
    static constexpr int ROWS = R, COLUMNS = C, ROWS_EACH = WARP_R / 8, COLUMNS_EACH = WARP_C / 4;
    static constexpr int STAGES = S, DEPTH = 64 / (int)sizeof(Stored), WARPS_WIDE = C / WARP_C;
    static constexpr int WIDE = 4 * WARPS_WIDE, THREADS = 32 * (R / WARP_R) * WARPS_WIDE;
    static constexpr int WIDEST = 16 / (int)sizeof(Stored);
    template <class A, class B>
    static constexpr int blocks()
    {
        return is_made_of<Stored, A>() && is_made_of<Stored, B>() ? 2 : 1;
    }
    template <int COUNT>
    static constexpr int VEC = COUNT % WIDEST == 0         ? WIDEST
                                : COUNT % (WIDEST / 2) == 0 ? WIDEST / 2
                                : COUNT % 2 == 0            ? 2
                                                            : 1;
    template <int COUNT>
    static constexpr int RUN = COUNT % 2 == 0 ? 2 : 1;
    struct alignas(128) Stage { Stored rows[R * DEPTH], columns[C * DEPTH]; };
    struct SharedTiles { Stage stage[S]; };
    static __device__ int warp() { return (int)(threadIdx.x / 32); }
    static __device__ int first_row() { return warp() / WARPS_WIDE * WARP_R; }
    static __device__ int first_column(int j)
    {
        return (j * WARPS_WIDE + warp() % WARPS_WIDE) * 16;
    }
    // Returns the tile's row or column of a thread's i-th one, by the layout of fragments.
    static __device__ int row(int i) { return first_row() + 8 * i + (int)(threadIdx.x % 32 / 4); }
    static __device__ int column(int i)
    {
        return first_column(i / 4) + i % 4 / 2 * 8 + (int)(threadIdx.x % 4) * 2 + i % 2;
    }
    // A product with ones sums rows, 16 a warp, unless it rounds.
    static_assert(2 * ROWS <= THREADS, "16 rows a warp are all");
    static __device__ int summed_row()
    {
        const int part = (int)(threadIdx.x % 4), own = warp() * 16 + (int)(threadIdx.x % 32 / 4);
        if (!Element::EXACT) return threadIdx.x < ROWS ? (int)threadIdx.x : 1 << 30;
        return own < ROWS && part < 2 ? own + 8 * part : 1 << 30;
    }
    // A sum's order is that of the steps, Element::STEPS at a time; among those it is the
    // hardware's, always the same.
    template <class A, class B, class K>
    static __device__ real sums(SharedTiles &shared, A &a, B &b, K begin, K end,
                                real (&sum)[ROWS_EACH][COLUMNS_EACH], bool sum_rows = false)
    {
        typedef StagedLoad<TensorTile, A> LoadA;
        typedef StagedLoad<TensorTile, B> LoadB;
        constexpr int AHEAD = STAGES - 1, LEFT = ROWS_EACH / 2, RIGHT = COLUMNS_EACH / 4;
        LoadA load_a(a);
        LoadB load_b(b);
        const Fragments<LoadA, Quarter<true>> lefts(first_row()), summed(warp() * 16);
        const Fragments<LoadB, Quarter<false>> rights(first_column(0));
        real row_sum[4] = {};

        for (int s = 0; s < AHEAD; s++) {
            Stage &to = shared.stage[s];
            if (begin + s * DEPTH < end) {
                load_a.begin(to.rows, begin + s * DEPTH, s);
                load_b.begin(to.columns, begin + s * DEPTH, s);
                load_a.end(to.rows);
                load_b.end(to.columns);
            }
            end_copies();
        }
        Stage *now = shared.stage, *last = now + AHEAD;         // last: the one multiplied before
        ROLL for (int turn = 0; begin < end; begin += DEPTH) {
            const K later = begin + AHEAD * DEPTH;
            wait_for_copies<AHEAD - 1>();
            load_a.make(now->rows, begin);
            load_b.make(now->columns, begin);
            __syncthreads();
            if (later < end) {
                load_a.begin(last->rows, later, AHEAD - 1);
                load_b.begin(last->columns, later, AHEAD - 1);
            }
            end_copies();
            UNROLL for (int k = 0; k < DEPTH; k += Element::STEPS) {
                unsigned left[LEFT][4], right[RIGHT][4];
                UNROLL for (int i = 0; i < LEFT; i++) lefts.load(left[i], now->rows, 16 * i, k);
                UNROLL for (int j = 0; j < RIGHT; j++)
                    rights.load(right[j], now->columns, 16 * WARPS_WIDE * j, k);
                UNROLL for (int i = 0; i < LEFT; i++)
                    UNROLL for (int j = 0; j < 2 * RIGHT; j++)
                        Element::multiply(&sum[2 * i][2 * j], &sum[2 * i + 1][2 * j], left[i],
                                          &right[j / 2][j % 2 * 2]);
            }
            if (Element::EXACT && sum_rows && warp() * 16 < ROWS)
                UNROLL for (int k = 0; k < DEPTH; k += Element::STEPS) {
                    const unsigned ones[2] = {Element::ONES, Element::ONES};
                    unsigned left[4];
                    summed.load(left, now->rows, 0, k);
                    Element::multiply(row_sum, row_sum + 2, left, ones);
                }
            if (!Element::EXACT && sum_rows && threadIdx.x < ROWS)
                for (int k = 0; k < DEPTH; k++)
                    row_sum[0] += Element::load(now->rows[LoadA::at((int)threadIdx.x, k)]);
            if (later < end) {
                load_a.end(last->rows);
                load_b.end(last->columns);
            }
            last = now;
            turn = turn < AHEAD ? turn + 1 : 0;
            now += turn ? 1 : -AHEAD;
        }
        return Element::EXACT && threadIdx.x % 4 ? row_sum[2] : row_sum[0];
    }
};
