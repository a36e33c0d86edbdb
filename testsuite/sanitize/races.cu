// Kernels with a race and without, for ThreadSanitizer and for runs in different
// orders: races CASE, which prints the results of the kernels.  Lines that
// race end in a comment that names their case.
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>
#include "../../runtime/support/vec/last_block.cuh"

enum { THREADS = 64 };

// Mirrors each block's part through shared memory, round after round.
__global__ void mirror(int *y, const int *x)
{
    __shared__ int row[THREADS];
    const int t = (int)threadIdx.x, i = (int)blockIdx.x * THREADS + t;
    for (int round = 0; round < 3; round++) {
        row[t] = x[i] + round;
        __syncthreads();
        y[i] = row[THREADS - 1 - t];
        __syncthreads();
    }
}

__global__ void no_barrier(int *y, const int *x)
{
    __shared__ int row[THREADS];
    const int t = (int)threadIdx.x, i = (int)blockIdx.x * THREADS + t;
    row[t] = x[i];              // no_barrier
    y[i] = row[THREADS - 1 - t]; // no_barrier
}

// The second round writes bytes that slow threads of the first still read.
__global__ void one_barrier(int *y, const int *x)
{
    __shared__ int row[THREADS];
    const int t = (int)threadIdx.x, i = (int)blockIdx.x * THREADS + t;
    for (int round = 0; round < 2; round++) {
        row[t] = x[i] + round;  // one_barrier
        __syncthreads();
        y[i] = row[THREADS - 1 - t]; // one_barrier
    }
}

// Warps meet in shuffles, each with itself.
__global__ void other_warp(int *y, const int *x)
{
    __shared__ int row[THREADS];
    const int t = (int)threadIdx.x;
    row[t] = x[t];              // other_warp
    __syncwarp();
    y[t] = row[t ^ 31] + row[t ^ 32]; // other_warp
}

__global__ void own_warp(int *y, const int *x)
{
    __shared__ int row[THREADS];
    const int t = (int)threadIdx.x;
    row[t] = x[t];
    int sum = __shfl_xor_sync(0xffffffffu, x[t], 1);
    y[t] = row[t ^ 31] + sum;
}

// Threads without barriers share nothing, though they all run on one OS thread.
__global__ void same_word(int *y, const int *)
{
    y[0] = 1;                   // same_word
}

__global__ void blocks_write(int *y, const int *)
{
    if (threadIdx.x == 0) y[0] = 1; // blocks_write
}

__global__ void block_reads(int *y, const int *)
{
    const unsigned i = blockIdx.x;
    if (threadIdx.x == 0) y[i] = i ? y[i - 1] : 1; // block_reads
}

// A launch may read results of the one before.
__global__ void shift(int *y, const int *x)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    y[i] = x[(i + THREADS) % (4 * THREADS)];
}

// The last block adds up the results of all; the count is for the next launch.
static constexpr int ARRIVALS = 4096;
__global__ void last_block(int *y, const int *x)
{
    const int t = (int)threadIdx.x, i = (int)blockIdx.x * THREADS + t;
    y[i] = x[i] + 1;
    if (!is_last_block((uint64_t *)(y + ARRIVALS))) return;
    int sum = 0;
    for (int block = 0; block < (int)gridDim.x; block++) sum += y[block * THREADS + t];
    y[(int)gridDim.x * THREADS + t] = sum;
}

// The first to come does not wait for the others.
__global__ void first_block(int *y, const int *x)
{
    const int t = (int)threadIdx.x, i = (int)blockIdx.x * THREADS + t;
    __shared__ bool first;
    y[i] = x[i] + 1;            // first_block
    __syncthreads();
    if (t == 0) first = atomicInc((unsigned *)y + ARRIVALS, gridDim.x - 1) == 0;
    __syncthreads();
    if (!first) return;
    int sum = 0;
    for (int block = 0; block < (int)gridDim.x; block++)
        sum += y[block * THREADS + t]; // first_block
    y[4 * THREADS + t] = sum;
}

static void sound(int *y, int *x, cudaStream_t stream)
{
    for (int round = 0; round < 2; round++) {
        LAUNCH(0, mirror, 4, THREADS, y, x);
        LAUNCH(0, shift, 4, THREADS, x, y);
        LAUNCH(0, mirror, 3, THREADS, x, y);
        LAUNCH(0, own_warp, 1, THREADS, y, x);
        LAUNCH(0, last_block, 3, THREADS, y, x);
    }
}

int main(int count, char **arguments)
{
    const char *wanted = count > 1 ? arguments[1] : "";
    cudaStream_t stream = nullptr;
    int *x, *y;
    if (cudaMalloc(&x, 1 << 16) || cudaMalloc(&y, 1 << 16)) return 2;
    for (int i = 0; i < 4 * THREADS; i++) x[i] = i * i;
    for (int i = 0; i < 5 * THREADS; i++) y[i] = 0;
    y[ARRIVALS] = y[ARRIVALS + 1] = 0;
#define CASE(kernel, blocks)                                                                       \
    if (!strcmp(wanted, #kernel)) LAUNCH(0, kernel, blocks, THREADS, y, x)
    CASE(no_barrier, 1);
    CASE(one_barrier, 1);
    CASE(other_warp, 1);
    CASE(same_word, 1);
    CASE(blocks_write, 2);
    CASE(block_reads, 4);
    CASE(first_block, 4);
    if (!strcmp(wanted, "sound")) sound(y, x, stream);
    unsigned sum = 0;
    for (int i = 0; i < 5 * THREADS; i++) sum = 31 * sum + (unsigned)y[i];
    printf("%08x\n", sum);
    return cudaGetLastError() != cudaSuccess;
}
