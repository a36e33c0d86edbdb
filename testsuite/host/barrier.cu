// Barriers and shared memory: writes before __syncthreads are visible to all threads after it,
// whatever the shape of the block. The same holds where blocks run side by side. A vote counts at
// its own barrier alone.
#include <cuda_runtime.h>
#include "expect.h"

// y[i] = x of the mirrored place in the block, twice over.
template <int THREADS>
__global__ void mirror(int *y, const int *x)
{
    __shared__ int row[THREADS];
    int t = (int)threadIdx.x, i = (int)blockIdx.x * THREADS + t;
    for (int round = 0; round < 3; round++) {
        row[t] = round ? y[i] : x[i];
        __syncthreads();
        y[i] = row[THREADS - 1 - t];
        __syncthreads();
    }
}

// The sum of each block's x, by halves.
template <int THREADS>
__global__ void block_sum(double *sums, const float *x)
{
    __shared__ double part[THREADS];
    int t = (int)threadIdx.x;
    part[t] = x[blockIdx.x * THREADS + threadIdx.x];
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) part[t] += part[t + half];
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}

// Transposes through a tile; the block and the grid have three dimensions.
__global__ void transpose(int *y, const int *x)
{
    __shared__ int tile[2][8][9];
    unsigned w = threadIdx.x, h = threadIdx.y, plane = threadIdx.z;
    unsigned base = ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * 128;
    tile[plane][h][w] = x[base + (plane * 8 + h) * 8 + w];
    __syncthreads();
    y[base + (plane * 8 + h) * 8 + w] = tile[plane][w][h];
}

// y[i] = rounds, of five, in which a thread of the block votes. Block b has a voter in rounds below b.
__global__ void vote(int *y)
{
    __shared__ int before;
    const int t = (int)threadIdx.x;
    int rounds = 0;
    for (int round = 0; round < 5; round++) {
        if (t == 0) before = round;
        rounds += __syncthreads_or(t == 7 * round && round < (int)blockIdx.x ? 4 : 0);
        if (before != round) rounds = -100;
        __syncthreads();
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = rounds + __syncthreads_or(0) + __syncthreads_or(t > 0);
}

// No barrier at all: every thread of every block runs exactly once.
__global__ void count_up(int *y, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i]++;
}

template <int THREADS>
static void test_mirror(int *x, int *y, cudaStream_t stream)
{
    const int n = 64 * THREADS;
    for (int i = 0; i < n; i++) x[i] = i;
    LAUNCH(-1, mirror<THREADS>, 64, THREADS, y, x);
    EXPECT_SUCCESS(cudaGetLastError());
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += y[i] != i / THREADS * THREADS + THREADS - 1 - i % THREADS;
    EXPECT(wrong == 0);
}

static void test_block_sum(cudaStream_t stream)
{
    float *x;
    double *sums;
    EXPECT_SUCCESS(cudaMalloc(&x, 500 * 256 * sizeof *x));
    EXPECT_SUCCESS(cudaMalloc(&sums, 500 * sizeof *sums));
    for (int i = 0; i < 500 * 256; i++) x[i] = (float)(i % 1000);
    LAUNCH(-1, (block_sum<256>), 500, 256, sums, x);
    int wrong = 0;
    for (int b = 0; b < 500; b++) {
        double sum = 0;
        for (int i = 0; i < 256; i++) sum += x[b * 256 + i];
        wrong += sum != sums[b];
    }
    EXPECT(wrong == 0);
    EXPECT_SUCCESS(cudaFree(x));
    EXPECT_SUCCESS(cudaFree(sums));
}

static void test_shapes(int *x, int *y, cudaStream_t stream)
{
    const int n = 3 * 5 * 7 * 128;
    for (int i = 0; i < n; i++) x[i] = i;
    LAUNCH(-1, transpose, dim3(3, 5, 7), dim3(8, 8, 2), y, x);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += y[i] != i / 64 * 64 + i % 8 * 8 + i / 8 % 8;
    EXPECT(wrong == 0);
}

static void test_vote(int *y, cudaStream_t stream)
{
    LAUNCH(-1, vote, 7, 70, y);
    EXPECT_SUCCESS(cudaGetLastError());
    int wrong = 0;
    for (int i = 0; i < 7 * 70; i++) wrong += y[i] != (i / 70 < 5 ? i / 70 : 5) + 1;
    EXPECT(wrong == 0);
}

static void test_plain(int *y, cudaStream_t stream)
{
    for (int i = 0; i < 60000; i++) y[i] = i;
    LAUNCH(-1, count_up, (50000 + 95) / 96, 96, y, 50000);
    int wrong = 0;
    for (int i = 0; i < 60000; i++) wrong += y[i] != i + (i < 50000);
    EXPECT(wrong == 0);
}

int main()
{
    int *x, *y;
    cudaStream_t stream;
    EXPECT_SUCCESS(cudaStreamCreate(&stream));
    EXPECT_SUCCESS(cudaMalloc(&x, 65536 * sizeof *x));
    EXPECT_SUCCESS(cudaMalloc(&y, 65536 * sizeof *y));
    test_mirror<1024>(x, y, stream);
    test_mirror<256>(x, y, stream);
    test_mirror<32>(x, y, stream);
    test_mirror<33>(x, y, stream);
    test_mirror<1>(x, y, stream);
    test_block_sum(stream);
    test_shapes(x, y, stream);
    test_vote(y, stream);
    test_plain(y, stream);
    EXPECT_SUCCESS(cudaFree(x));
    EXPECT_SUCCESS(cudaFree(y));
    EXPECT_SUCCESS(cudaStreamDestroy(stream));
    return expect_failures != 0;
}
