// Warp intrinsics with full masks, against CUDA's manual.
#include <cuda_runtime.h>
#include <stdint.h>
#include "expect.h"

enum { THREADS = 96, RESULTS = 10 };
static constexpr unsigned FULL = 0xffffffffu;

__global__ void shuffle_all(int *y)
{
    int t = (int)threadIdx.x, lane = t % 32, *mine = y + t * RESULTS;
    int x = 1000 + t;
    mine[0] = __shfl_sync(FULL, x, 5);
    mine[1] = __shfl_sync(FULL, x, 33);
    mine[2] = __shfl_up_sync(FULL, x, 3);
    mine[3] = __shfl_down_sync(FULL, x, 3);
    mine[4] = __shfl_xor_sync(FULL, x, 9);
    mine[5] = __shfl_down_sync(FULL, x, 2, 8);
    mine[6] = __shfl_xor_sync(FULL, x, 1, 4);
    mine[7] = (int)__ballot_sync(FULL, lane % 3 == 0);
    mine[8] = __any_sync(FULL, t == 40);
    mine[9] = __all_sync(FULL, t != 40);
}

// The sum of a block: shuffles in each warp, then shared memory, then the first
// warp alone shuffles while the others have ended.
__global__ void block_sum(double *sums, const double *x)
{
    __shared__ double part[32];
    int t = (int)threadIdx.x, lane = t % 32, warp = t / 32;
    double sum = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(FULL, sum, (unsigned)step);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (warp > 0) return;
    sum = lane < (int)blockDim.x / 32 ? part[lane] : 0;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(FULL, sum, step);
    __syncwarp();
    if (lane == 0) sums[blockIdx.x] = sum;
}

static void test_all(cudaStream_t stream)
{
    int *y, wrong = 0;
    EXPECT_SUCCESS(cudaMalloc(&y, THREADS * RESULTS * sizeof *y));
    LAUNCH(-1, shuffle_all, 1, THREADS, y);
    EXPECT_SUCCESS(cudaGetLastError());
    for (int t = 0; t < THREADS; t++) {
        int lane = t % 32, warp = 1000 + t - lane, *mine = y + t * RESULTS;
        wrong += mine[0] != warp + 5;
        wrong += mine[1] != warp + 1;
        wrong += mine[2] != warp + (lane < 3 ? lane : lane - 3);
        wrong += mine[3] != warp + (lane > 28 ? lane : lane + 3);
        wrong += mine[4] != warp + (lane ^ 9);
        wrong += mine[5] != warp + (lane % 8 > 5 ? lane : lane + 2);
        wrong += mine[6] != warp + (lane ^ 1);
        wrong += mine[7] != 0x49249249;
        wrong += mine[8] != (t / 32 == 1);
        wrong += mine[9] != (t / 32 != 1);
    }
    EXPECT(wrong == 0);
    EXPECT_SUCCESS(cudaFree(y));
}

static void test_block_sum(int threads, cudaStream_t stream)
{
    double *x, *sums;
    int wrong = 0;
    EXPECT_SUCCESS(cudaMalloc(&x, 40 * 1024 * sizeof *x));
    EXPECT_SUCCESS(cudaMalloc(&sums, 40 * sizeof *sums));
    for (int i = 0; i < 40 * 1024; i++) x[i] = i % 777;
    LAUNCH(-1, block_sum, 40, threads, sums, x);
    EXPECT_SUCCESS(cudaGetLastError());
    for (int b = 0; b < 40; b++) {
        double sum = 0;
        for (int i = 0; i < threads; i++) sum += x[b * threads + i];
        wrong += sum != sums[b];
    }
    EXPECT(wrong == 0);
    EXPECT_SUCCESS(cudaFree(x));
    EXPECT_SUCCESS(cudaFree(sums));
}

int main()
{
    cudaStream_t stream = nullptr;
    test_all(stream);
    for (int threads = 32; threads <= 1024; threads *= 2) test_block_sum(threads, stream);
    test_block_sum(96, stream);
    return expect_failures != 0;
}
