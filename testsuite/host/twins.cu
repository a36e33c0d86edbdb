// Twins: one thread works for its block, with the bits of the kernel. Without them every thread
// works, and the results are the same.
#include <cuda_runtime.h>
#include <initializer_list>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>
#include "../../runtime/kernels/conv_strided.cuh"
#include "../../runtime/support/gemm/mma_bf16.cuh"
#include "../../runtime/support/gemm/mma_f16.cuh"
#include "../../runtime/support/gemm/mma_tf32.cuh"
#include "../../runtime/support/gemm/tensor.cuh"
#include "../../runtime/support/net/shape.cuh"
#include "expect.h"

constexpr int ROWS = 70, COLUMNS = 33, STEPS = 150;
typedef GemmTile<64, 32, 4, 4> Tile;

// Adds 1 to each element, and counts the threads.
__global__ void count_turns(int *x, long long count, unsigned *threads)
{
    atomicInc(threads, ~0u);
    FOR_EACH(i, count) x[i]++;
}

__global__ void exchanges(int *x)
{
    FOR_EACH(i, 64) x[0] = 1;
    x[0] = __shfl_sync(~0u, 1, 0);
}

// y = a b^T and the sums of a's rows, with a [STEPS, ROWS] and b [COLUMNS, STEPS]. `times`: how
// often each block multiplies.
__global__ void multiply(float *y, float *row_sums, const float *a, const float *b, int times)
{
    const int row = (int)blockIdx.x * Tile::ROWS, column = (int)blockIdx.y * Tile::COLUMNS;
    __shared__ Tile::SharedTiles tiles;
    float of_row = 0;
    for (int time = 0; time < times; time++) {
        TileLoader<Tile, Tile::ROWS, 1, false> left = {a, 0, 1, 1, {STEPS, ROWS}};
        TileLoader<Tile, Tile::COLUMNS, 1, true> right = {b, 0, 1, 1, {STEPS, 1}};
        float sum[Tile::ROWS_EACH][Tile::COLUMNS_EACH] = {};
        of_row = block_sums<Tile>(tiles, left, row, Im2colIndex{ROWS, 1}, right, column,
                                  Im2colIndex{COLUMNS, STEPS}, 0, STEPS, sum, true);
        for (int i = 0; i < Tile::ROWS_EACH; i++)
            for (int j = 0; j < Tile::COLUMNS_EACH; j++)
                if (row + Tile::row(i) < ROWS && column + Tile::column(j) < COLUMNS)
                    y[(row + Tile::row(i)) * COLUMNS + column + Tile::column(j)] = sum[i][j];
    }
    if (row + Tile::summed_row() < ROWS) row_sums[row + Tile::summed_row()] = of_row;
}

// Device memory of `count` elements between -2 and 3, some close to 0; or all NaN, if seed is 0.
template <class T>
struct Array {
    T *at;
    size_t count;
    Array(size_t count, int seed) : count(count)
    {
        std::vector<T> values(count);
        for (size_t i = 0; i < count; i++)
            values[i] = ((float)((i * 7919 + (size_t)seed * 104729) % 1009) / 199 - 2) *
                        (i % 17 ? 1 : 1e-5f);
        EXPECT_SUCCESS(cudaMalloc(&at, count * sizeof *at));
        if (seed) EXPECT_SUCCESS(cudaMemcpy(at, values.data(), count * sizeof *at,
                                            cudaMemcpyHostToDevice));
    }
    ~Array() { EXPECT_SUCCESS(cudaFree(at)); }
    std::vector<T> values() const
    {
        std::vector<T> here(count);
        EXPECT_SUCCESS(cudaMemcpy(here.data(), at, count * sizeof *at, cudaMemcpyDeviceToHost));
        return here;
    }
};

// The product's operands and results.
struct Operands {
    Array<float> a{STEPS * ROWS, 1}, b{COLUMNS * STEPS, 2}, y{ROWS * COLUMNS, 0}, row_sums{ROWS, 0};
    void launch(int step, int times) const
    {
        cudaStream_t stream = nullptr;
        LAUNCH(step, multiply, dim3(2, 2), Tile::THREADS, y.at, row_sums.at, a.at, b.at, times);
    }
};

static void test_turns()
{
    constexpr int COUNT = 1000;
    cudaStream_t stream = nullptr;
    int *x;
    unsigned *threads;
    EXPECT_SUCCESS(cudaMalloc(&x, COUNT * sizeof *x));
    EXPECT_SUCCESS(cudaMalloc(&threads, sizeof *threads));
    for (int blocks : {1, 3, 40}) {
        EXPECT_SUCCESS(cudaMemset(x, 0, COUNT * sizeof *x));
        EXPECT_SUCCESS(cudaMemset(threads, 0, sizeof *threads));
        LAUNCH(-1, count_turns, blocks, 64, x, COUNT, threads);
        EXPECT_SUCCESS(cudaGetLastError());
        int seen[COUNT];
        unsigned ran;
        EXPECT_SUCCESS(cudaMemcpy(seen, x, sizeof seen, cudaMemcpyDeviceToHost));
        EXPECT_SUCCESS(cudaMemcpy(&ran, threads, sizeof ran, cudaMemcpyDeviceToHost));
        for (int turns : seen) EXPECT(turns == 1);
        EXPECT(ran == (unsigned)blocks * (host_has_twins ? 1 : 64));
    }
}

static void test_product()
{
    const Operands all;
    all.launch(-1, 1);
    EXPECT_SUCCESS(cudaGetLastError());
    const std::vector<float> a = all.a.values(), b = all.b.values(), y = all.y.values();
    const std::vector<float> row_sums = all.row_sums.values();
    for (int i = 0; i < ROWS; i++) {
        float of_row = 0;
        for (int k = 0; k < STEPS; k++) of_row += a[k * ROWS + i];
        EXPECT(row_sums[i] == of_row);
        for (int j = 0; j < COLUMNS; j++) {
            float sum = 0;
            for (int k = 0; k < STEPS; k++)
                sum = mul_add(a[k * ROWS + i], b[j * STEPS + k], sum);
            EXPECT(y[i * COLUMNS + j] == sum);
        }
    }
}

// Windows that reach out of the map, with four channels or three, with strides, dilations, groups.
struct Wide : UsualShape {
    static constexpr long long N = 3, H = 7, W = 9, C = 8, P = 7, Q = 9, K = 40, R = 3, S = 3,
                               PAD_TOP = 1, PAD_LEFT = 1;
};
struct Narrow : UsualShape {
    static constexpr long long N = 2, H = 13, W = 11, C = 3, P = 7, Q = 6, K = 33, R = 5, S = 5,
                               STRIDE_H = 2, STRIDE_W = 2, PAD_TOP = 2, PAD_LEFT = 2;
};
struct Grouped : UsualShape {
    static constexpr long long N = 2, H = 9, W = 8, C = 12, P = 4, Q = 4, K = 20, R = 3, S = 2,
                               STRIDE_H = 2, DILATION_H = 1, DILATION_W = 2, STRIDE_W = 2,
                               PAD_TOP = 0, PAD_LEFT = 1, GROUPS = 2;
};

struct Tall : UsualShape {
    static constexpr long long N = 4, H = 50, C = 4, P = 50, K = 70, R = 3, PAD_TOP = 1;
};

// An activation as a prologue.
struct Bent {
    static __device__ real forward(real x) { return x > 1 ? x : x / 4; }
};

// The results of a convolution and its gradients.
template <class Shape, class Tile, class X>
static std::vector<float> convolve(X x, const float *weight, const float *bias)
{
    constexpr size_t OUT = Shape::N * Shape::P * Shape::Q * Shape::K;
    constexpr size_t IN = Shape::N * Shape::H * Shape::W * Shape::C;
    constexpr size_t WEIGHTS = Shape::K * Shape::R * Shape::S * Shape::C / Shape::GROUPS;
    constexpr int SPLITS = 2, MANY = 64;
    const auto tiles = [](long long rows, long long columns) {
        return (int)((rows + Tile::ROWS - 1) / Tile::ROWS *
                     ((columns + Tile::COLUMNS - 1) / Tile::COLUMNS));
    };
    typedef ConvGroup<Shape, Tile> G;
    cudaStream_t stream = nullptr;
    const Array<float> y(OUT, 0), dx(IN, 0), dw(SPLITS * WEIGHTS, 0), db(SPLITS * Shape::K, 0);
    const Array<float> dy(OUT, 5);
    LAUNCH(-1, (conv_forward<Shape, Tile, identity, true, X>),
           tiles(G::PIXELS, G::K) * (int)Shape::GROUPS, Tile::THREADS, y.at, x, weight, bias);
    LAUNCH(-1, (conv_wgrad<Shape, Tile, SPLITS, true, float *, const float *, X>),
           tiles(G::K, G::FILTER) * (int)Shape::GROUPS * SPLITS, Tile::THREADS, dw.at, db.at,
           (const float *)dy.at, x);
    if constexpr (Shape::STRIDE_H == 1)
        LAUNCH(-1, (conv_dgrad<Shape, Tile, identity>),
               tiles(Shape::N * Shape::H * Shape::W, G::C), Tile::THREADS, dx.at,
               (const float *)dy.at, weight, (const float *)nullptr);
    else
        LAUNCH(-1, (conv_strided_dgrad<Shape, Tile, identity>), MANY, Tile::THREADS, dx.at,
               (const float *)dy.at, weight, (const float *)nullptr);
    EXPECT_SUCCESS(cudaGetLastError());
    std::vector<float> all;
    for (const Array<float> *each : {&y, &dx, &dw, &db}) {
        const std::vector<float> values = each->values();
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

template <class Shape, class Tile, class X>
static void compare(const char *name, X x)
{
    const bool had_twins = host_has_twins;
    const Array<float> weight(Shape::K * Shape::R * Shape::S * Shape::C / Shape::GROUPS, 2);
    const Array<float> bias(Shape::K, 3);
    host_has_twins = true;
    const std::vector<float> twins = convolve<Shape, Tile>(x, weight.at, bias.at);
    host_has_twins = false;
    const std::vector<float> kernels = convolve<Shape, Tile>(x, weight.at, bias.at);
    host_has_twins = had_twins;
    if (!memcmp(twins.data(), kernels.data(), twins.size() * sizeof twins[0])) return;
    printf("%s: other bits than the kernel\n", name);
    expect_failures++;
}

template <class Shape, class Tile>
static void compare_sources(const char *name)
{
    constexpr size_t IN = Shape::N * Shape::H * Shape::W * Shape::C;
    const Array<float> whole(IN, 1);
    const Array<f16> half(IN, 1);
    const Array<bf16> brain(IN, 1);
    compare<Shape, Tile>(name, (const float *)whole.at);
    compare<Shape, Tile>(name, (const f16 *)half.at);
    compare<Shape, Tile>(name, (const bf16 *)brain.at);
    compare<Shape, Tile>(name, Applied<Bent>{whole.at});
    compare<Shape, Tile>(name, Applied<Bent, const f16 *>{half.at});
}

template <class Tile>
static void compare_shapes(const char *name)
{
    compare_sources<Wide, Tile>(name);
    compare_sources<Narrow, Tile>(name);
    compare_sources<Grouped, Tile>(name);
    compare_sources<Tall, Tile>(name);
}

// The last thing that a program does: the launch fails.
static void test_misuse()
{
    cudaStream_t stream = nullptr;
    if (!host_has_twins) return;
    // The reset frees its memory, so that no destructor may.
    static const Operands *const all = new Operands;
    all->launch(7, 2);
    EXPECT(cudaGetLastError() == cudaErrorLaunchFailure);
    EXPECT(strstr(cuda_host_report(), "a block has a second product") != nullptr);
    EXPECT_SUCCESS(cudaDeviceReset());
    int *x;
    EXPECT_SUCCESS(cudaMalloc(&x, sizeof *x));
    LAUNCH(7, exchanges, 1, 64, x);
    EXPECT(cudaGetLastError() == cudaErrorLaunchFailure);
    EXPECT(strstr(cuda_host_report(), "threads of an elementwise kernel exchange values") !=
           nullptr);
}

int main()
{
    setenv("CNNC_HOST_THREADS", "1", 1);        // one that runs all blocks of a launch
    test_turns();
    test_product();
    compare_shapes<GemmTile<64, 32, 4, 4>>("f32");
    compare_shapes<GemmTile<32, 16, 4, 4>>("f32, small");
    compare_shapes<TensorTile<Tf32, 64, 32, 16, 32, 4>>("tf32");
    compare_shapes<TensorTile<F16, 64, 32, 16, 32, 4>>("f16");
    compare_shapes<TensorTile<Bf16, 64, 32, 16, 32, 4>>("bf16");
    test_misuse();
    return expect_failures != 0;
}
