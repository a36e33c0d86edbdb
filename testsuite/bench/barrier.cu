// The cost of the host runtime: nanoseconds per thread of a barrier, of a shuffle and of a kernel
// without barriers. The speed of a tiled product is printed, too.
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void barriers(int *y, int rounds)
{
    for (int i = 0; i < rounds; i++) __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = rounds;
}

__global__ void shuffles(int *y, int rounds)
{
    int x = (int)threadIdx.x;
    for (int i = 0; i < rounds; i++) x += __shfl_xor_sync(0xffffffffu, x, 1 << i % 5);
    y[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void plain(float *y, const float *x)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] < 0 ? 0 : x[i] * 0.5f;
}

// c = a b, all [N,N]; a block computes 64x64 of c, a thread 4x4.
template <int N>
__global__ void matmul(float *c, const float *a, const float *b)
{
    constexpr int TILE = 64, DEPTH = 16;
    __shared__ float a_tile[DEPTH][TILE], b_tile[DEPTH][TILE];
    int t = (int)threadIdx.x, row = t / 16 * 4, column = t % 16 * 4;
    int top = (int)blockIdx.x / (N / TILE) * TILE, left = (int)blockIdx.x % (N / TILE) * TILE;
    float sum[4][4] = {};
    for (int k = 0; k < N; k += DEPTH) {
        for (int i = t; i < TILE * DEPTH; i += 256) {
            a_tile[i % DEPTH][i / DEPTH] = a[(top + i / DEPTH) * N + k + i % DEPTH];
            b_tile[i / TILE][i % TILE] = b[(k + i / TILE) * N + left + i % TILE];
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; d++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += a_tile[d][row + i] * b_tile[d][column + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) c[(top + row + i) * N + left + column + j] = sum[i][j];
}

// Seconds between two events around whatever `body` launches; the best of five.
template <class Body>
static double best_time(Body body)
{
    cudaEvent_t start, end;
    float best = 1e30f, now;
    cudaEventCreate(&start), cudaEventCreate(&end);
    for (int i = 0; i < 5; i++) {
        cudaEventRecord(start);
        body();
        cudaEventRecord(end);
        cudaEventElapsedTime(&now, start, end);
        if (now < best) best = now;
    }
    cudaEventDestroy(start), cudaEventDestroy(end);
    return best * 1e-3;
}

int main()
{
    const int rounds = 200, N = 512, count = 1 << 22;
    cudaStream_t stream = nullptr;
    int *y;
    float *a, *b, *c;
    cudaMalloc(&y, 1 << 20);
    cudaMalloc(&a, count * sizeof *a);
    cudaMalloc(&b, count * sizeof *b);
    cudaMalloc(&c, count * sizeof *c);
    cudaMemset(a, 0, count * sizeof *a);
    cudaMemset(b, 0, count * sizeof *b);
    for (int threads = 32; threads <= 1024; threads *= 2) {
        double wait = best_time([&] { LAUNCH(-1, barriers, 64, threads, y, rounds); });
        double shuffle = best_time([&] { LAUNCH(-1, shuffles, 64, threads, y, rounds); });
        printf("%4d threads: %6.2f ns a thread a barrier, %6.2f a shuffle\n", threads,
               1e9 * wait / (64.0 * rounds * threads), 1e9 * shuffle / (64.0 * rounds * threads));
    }
    double line = best_time([&] { LAUNCH(-1, plain, count / 256, 256, b, a); });
    printf("no barrier:  %6.2f ns a thread\n", 1e9 * line / count);
    double one = best_time([&] { LAUNCH(-1, plain, 1, 256, b, a); });
    printf("one block:   %6.2f us a launch\n", 1e6 * one);
    double product = best_time([&] { LAUNCH(-1, matmul<N>, N / 64 * (N / 64), 256, c, a, b); });
    printf("matmul %d: %6.2f ms, %.2f Gflop/s\n", N, 1e3 * product,
           2.0 * N * N * N / product * 1e-9);
    return cudaGetLastError() != cudaSuccess;
}
