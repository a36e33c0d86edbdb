// Checks tiles on tensor cores of each element type, in each order that an operand can have in
// memory. They are loaded with copies and with loads that compute. Sizes fill no tile, and results
// must equal sums in integers exactly.  With nvcc it is the same test of a GPU.
#include <stdio.h>
#include "../../runtime/support/gemm/mma_bf16.cuh"
#include "../../runtime/support/gemm/mma_f16.cuh"
#include "../../runtime/support/gemm/mma_tf32.cuh"
#include "../../runtime/support/gemm/tensor.cuh"
#include "../host/expect.h"

#ifndef LAUNCH
#define LAUNCH(step, kernel, grid, block, ...) kernel<<<grid, block, 0, stream>>>(__VA_ARGS__)
#endif
static const cudaStream_t stream = nullptr;

// ---- one product ----------------------------------------------------------------------------------

// The value computed on load is the stored one plus one, so that padding is not zero.  Large pieces
// are computed in shared memory, others in registers.
template <class Element>
struct Next {
    const typename Element::Stored *x;
    __device__ float operator[](long long i) const { return Element::load(x[i]) + 1; }
    template <int V>
    __device__ Vec<V> vec(long long i) const { return vec_each<V>(*this, i); }
    template <int V>
    __device__ float terms(int) const { return 1; }
    template <int V>
    static __device__ Vec<V> of(const Vec<V> &from, float one)
    {
        Vec<V> v;
        for (int j = 0; j < V; j++) v.at[j] = from.at[j] + one;
        return v;
    }
};

// How an operand is read: V elements at once, along steps or lanes, as it is or computed.
template <int V, bool ALONG, bool COMPUTED>
struct Way {
    static constexpr int WIDTH = V;
    static constexpr bool IS_ALONG = ALONG, IS_COMPUTED = COMPUTED;
    template <class Element>
    using Source = std::conditional_t<COMPUTED, Next<Element>, const typename Element::Stored *>;
    // Bank conflicts of count lanes, summed over steps.
    static __device__ Im2colIndex lanes(long long count, long long steps)
    {
        return {count, ALONG ? steps : 1};
    }
    static __device__ Im2colIndex steps(long long count, long long steps)
    {
        return {steps, ALONG ? 1 : count};
    }
};

// The sums of m rows and n columns; element i << 20 | j is that of row i and column j.
struct Within {
    float *y;
    int m, n;
    template <int V>
    __device__ void put(long long at, const Vec<V> &sums) const
    {
        const long long i = at >> 20;
        const int j = (int)(at & ((1 << 20) - 1));
        for (int k = 0; k < V; k++)
            if (i < m && j + k < n) y[i * (n + 1) + j + k] = sums.at[k];
    }
};

struct Block { long long row; int column; };

// y[i,j] = sum over k of a(i,k) * b(j,k), and in column n of y that of a(i,k) if a is along lanes,
// as in a weight gradient.
template <class Tile, class WayA, class WayB>
__global__ void multiply_all(float *y, const typename Tile::Stored *a, const typename Tile::Stored *b,
                             int m, int n, int steps)
{
    typedef typename Tile::Element Element;
    typedef typename WayA::template Source<Element> A;
    typedef typename WayB::template Source<Element> B;
    const int wide = (n + Tile::COLUMNS - 1) / Tile::COLUMNS;
    const Block block = {(long long)(blockIdx.x / wide) * Tile::ROWS,
                         (int)(blockIdx.x % wide) * Tile::COLUMNS};
    TileLoader<Tile, Tile::ROWS, WayA::WIDTH, WayA::IS_ALONG, A> rows = {
        A{a}, 0, 1, 1, WayA::steps(m, steps)};
    TileLoader<Tile, Tile::COLUMNS, WayB::WIDTH, WayB::IS_ALONG, B> columns = {
        B{b}, 0, 1, 1, WayB::steps(n, steps)};
    __shared__ typename Tile::SharedTiles tiles;
    float sum[Tile::ROWS_EACH][Tile::COLUMNS_EACH] = {};
    const bool leads = block.column == 0 && !WayA::IS_ALONG;
    rows.start(block.row, WayA::lanes(m, steps));
    columns.start(block.column, WayB::lanes(n, steps));
    const float of_row = Tile::sums(tiles, rows, columns, 0, steps, sum, leads);
    auto place = [](long long i) { return i << 20; };
    each_run<Tile, 1 << 20, true>(sum, block, m, place, [=](auto &run, long long at, int) {
        Within{y, m, n}.put(at, run);
    });
    const long long i = block.row + Tile::summed_row();
    if (leads && i < m) y[i * (n + 1) + n] = of_row;
}

// Numbers as the device stores them, and as they are.
template <class Element>
struct Operand {
    typename Element::Stored *stored;
    int *number;
};

template <class Element>
__global__ void store_numbers(typename Element::Stored *stored, const int *number, int count)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) stored[i] = Element::store((float)number[i]);
}

template <class Way, class Element>
static int element(const Operand<Element> &of, int lane, int step, int lanes, int steps)
{
    return of.number[Way::IS_ALONG ? lane * steps + step : step * lanes + lane] +
           (Way::IS_COMPUTED ? 1 : 0);
}

template <class Element>
static Operand<Element> drawn(int count, unsigned seed)
{
    Operand<Element> x;
    EXPECT_SUCCESS(cudaMallocHost(&x.stored, (size_t)count * sizeof *x.stored));
    EXPECT_SUCCESS(cudaMallocHost(&x.number, (size_t)count * sizeof *x.number));
    for (int i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x.number[i] = (int)(seed >> 24) % 7 - 3;
    }
    LAUNCH(-1, store_numbers<Element>, (count + 255) / 256, 256, x.stored, x.number, count);
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    return x;
}

template <class Element>
static void discard(const Operand<Element> &x)
{
    EXPECT_SUCCESS(cudaFreeHost(x.stored));
    EXPECT_SUCCESS(cudaFreeHost(x.number));
}

template <class Tile, class WayA, class WayB>
static void test_steps(const char *name, int m, int n, int steps)
{
    typedef typename Tile::Element Element;
    const Operand<Element> a = drawn<Element>(m * steps, 1), b = drawn<Element>(n * steps, 2);
    const int grid = (m + Tile::ROWS - 1) / Tile::ROWS * ((n + Tile::COLUMNS - 1) / Tile::COLUMNS);
    int wrong = 0;
    float *y;
    EXPECT_SUCCESS(cudaMallocHost(&y, (size_t)m * (size_t)(n + 1) * sizeof *y));
    LAUNCH(-1, (multiply_all<Tile, WayA, WayB>), grid, Tile::THREADS, y, a.stored,
           b.stored, m, n, steps);
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    for (int i = 0; i < m; i++) {
        int row = 0;
        for (int k = 0; k < steps; k++) row += element<WayA>(a, i, k, m, steps);
        wrong += !WayA::IS_ALONG && y[i * (n + 1) + n] != (float)row;
        for (int j = 0; j < n; j++) {
            int sum = 0;
            for (int k = 0; k < steps; k++)
                sum += element<WayA>(a, i, k, m, steps) * element<WayB>(b, j, k, n, steps);
            wrong += y[i * (n + 1) + j] != (float)sum;
        }
    }
    if (wrong) {
        printf("%s: %d wrong of %d x %d x %d\n", name, wrong, m, n, steps);
        expect_failures++;
    }
    discard(a);
    discard(b);
    EXPECT_SUCCESS(cudaFreeHost(y));
}

// Sums of fewer tiles than there are stages, of as many, and of more.
template <class Tile, class WayA, class WayB>
static void test_product(const char *name)
{
    for (int tiles = 1; tiles <= Tile::STAGES + 2; tiles += Tile::STAGES)
        test_steps<Tile, WayA, WayB>(name, Tile::ROWS + 24, Tile::COLUMNS + 8,
                                     tiles * Tile::DEPTH - 8);
    if (WayA::WIDTH == 1 && WayB::WIDTH == 1)
        test_steps<Tile, WayA, WayB>(name, Tile::ROWS - 3, Tile::COLUMNS + 1, 2 * Tile::DEPTH + 5);
}

// The needs of the parts of a convolution: forward, that of few channels, the data gradient, the
// weight gradient; wide and in pieces.  A copy moves no less than 4 bytes.
template <class Tile>
static void test_tile(const char *name)
{
    constexpr int WIDE = 16 / (int)sizeof(typename Tile::Stored);
    test_product<Tile, Way<WIDE, true, false>, Way<WIDE, true, false>>(name);
    test_product<Tile, Way<1, false, true>, Way<1, true, WIDE == 8>>(name);
    test_product<Tile, Way<WIDE, true, true>, Way<WIDE / 2, false, false>>(name);
    test_product<Tile, Way<WIDE, false, false>, Way<WIDE, false, true>>(name);
    test_product<Tile, Way<2, false, false>, Way<2, false, false>>(name);
}

// ---- banks ----------------------------------------------------------------------------------------

// Simultaneous reads of shared memory use different banks, of 32 words. These are reads of matrices
// of 8 rows of 16 bytes, and of 4 steps of 8 lanes of words.
#ifndef __CUDACC__
template <class Element, int LANES, bool ALONG>
static void test_banks()
{
    constexpr int BYTES = (int)sizeof(typename Element::Stored), DEPTH = 64 / BYTES;
    typedef TensorTile<Element, 128, 128, 64, 32, 3> Tile;
    typedef const typename Element::Stored *Source;
    typedef StagedLoad<Tile, TileLoader<Tile, LANES, 16 / BYTES, ALONG, Source>> At;
    const bool words = BYTES == 4 && !ALONG;
    const int lanes = ALONG || words ? 8 : 16 / BYTES, steps = ALONG ? 16 / BYTES : words ? 4 : 8;
    int conflicts = 0;
    for (int lane = 0; lane < LANES; lane += lanes)
        for (int step = 0; step < DEPTH; step += steps) {
            unsigned banks = 0;
            for (int i = 0; i < lanes; i++)
                for (int k = 0; k < steps; k++)
                    banks |= 1u << At::at(lane + i, step + k) * BYTES / 4 % 32;
            conflicts += banks != ~0u;
        }
    if (conflicts) printf("%d lanes of %d bytes: %d conflicts\n", LANES, BYTES, conflicts);
    expect_failures += conflicts != 0;
}

template <class Element>
static void test_all_banks()
{
    test_banks<Element, 32, true>();
    test_banks<Element, 128, true>();
    test_banks<Element, 32, false>();
    test_banks<Element, 64, false>();
    test_banks<Element, 128, false>();
}
#else
template <class Element>
static void test_all_banks() {}
#endif

int main()
{
    test_all_banks<Tf32>();
    test_all_banks<F16>();
    test_tile<TensorTile<Tf32, 128, 128, 64, 32, 3>>("tf32 128 x 128");
    test_tile<TensorTile<Tf32, 128, 64, 32, 32, 4>>("tf32 128 x 64");
    test_tile<TensorTile<Tf32, 64, 64, 32, 32, 4>>("tf32 64 x 64");
    test_tile<TensorTile<Tf32, 64, 32, 16, 32, 4>>("tf32 64 x 32");
    test_tile<TensorTile<Tf32, 32, 128, 32, 32, 2>>("tf32 32 x 128");
    test_tile<TensorTile<F16, 128, 128, 64, 32, 3>>("f16 128 x 128");
    test_tile<TensorTile<F16, 64, 32, 16, 32, 4>>("f16 64 x 32");
    test_tile<TensorTile<Bf16, 64, 64, 32, 32, 2>>("bf16 64 x 64");
    test_tile<TensorTile<Bf16, 32, 128, 32, 32, 4>>("bf16 32 x 128");
    return expect_failures != 0;
}
