// Launches that must fail: beyond the limits, with addresses that are not the
// device's, with threads that diverge.  A failed launch fails all that follows
// until cudaDeviceReset; a refused one is forgotten once it has been asked for.
#include <cuda_runtime.h>
#include <string.h>
#include "expect.h"

__global__ void touch(int *y)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) *y = 1;
}

// Half of the threads end before the barrier.
__global__ void half_ends(int *y)
{
    __shared__ int seen;
    if (threadIdx.x >= 32 && threadIdx.x < 48) return;
    seen = 1;
    __syncthreads();
    *y = seen;
}

// Whole warps end before the barrier.
__global__ void warps_end(int *)
{
    if (threadIdx.x < 64) __syncthreads();
}

// Lanes of one warp wait at different kinds of barrier.
__global__ void mixed(int *y)
{
    if (threadIdx.x % 2) __syncthreads();
    else *y = __shfl_sync(0xffffffffu, 1, 0);
}

__global__ void partial(int *y)
{
    *y = __shfl_sync(0xffffu, 1, 0);
}

static void refused(HostExtent grid, HostExtent block, cudaError_t expected)
{
    cudaStream_t stream = nullptr;
    int *y;
    EXPECT_SUCCESS(cudaMalloc(&y, sizeof *y));
    LAUNCH(-1, touch, grid, block, y);
    EXPECT(cudaPeekAtLastError() == expected);
    EXPECT(cudaGetLastError() == expected);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT_SUCCESS(cudaFree(y));
}

static void test_limits()
{
    const cudaError_t bad = cudaErrorInvalidConfiguration;
    refused(1, 1024, cudaSuccess);
    refused(1, 1025, bad);
    refused(0, 32, bad);
    refused(1, 0, bad);
    refused(1, -32, bad);
    refused(1LL << 31, 32, bad);
    refused(dim3(1, 65535), 32, cudaSuccess);
    refused(dim3(1, 65536), 32, bad);
    refused(dim3(1, 1, 65536), 32, bad);
    refused(1, dim3(32, 33), bad);
    refused(1, dim3(1, 1, 65), bad);
}

// Runs one launch that must fail, and looks for `said` in the report.
#define RUINS(error, said, kernel, grid, block)                                                \
    do {                                                                                       \
        cudaStream_t stream = nullptr;                                                         \
        int *y, local = 0;                                                                     \
        EXPECT_SUCCESS(cudaMalloc(&y, sizeof *y));                                             \
        LAUNCH(7, kernel, grid, block, (error) == cudaErrorIllegalAddress ? &local : y);       \
        EXPECT(cudaGetLastError() == (error));                                                 \
        EXPECT(cudaGetLastError() == (error));                                                 \
        EXPECT(cudaDeviceSynchronize() == (error));                                            \
        EXPECT(cudaFree(y) == (error));                                                        \
        EXPECT(strstr(cuda_host_report(), "kernel " #kernel ", step 7") != nullptr);           \
        EXPECT(strstr(cuda_host_report(), said) != nullptr);                                   \
        EXPECT_SUCCESS(cudaDeviceReset());                                                     \
        EXPECT_SUCCESS(cudaGetLastError());                                                    \
    } while (0)

int main()
{
    test_limits();
    RUINS(cudaErrorLaunchFailure, "16 wait at __syncthreads, 0 at", half_ends, 1, 64);
    RUINS(cudaErrorLaunchFailure, "divergence", half_ends, 1000, 256);
    RUINS(cudaErrorLaunchFailure, "of 2 warps wait at __syncthreads, those of 2", warps_end, 1,
          128);
    RUINS(cudaErrorLaunchFailure, "16 at a warp's barrier", mixed, 1, 32);
    RUINS(cudaErrorLaunchFailure, "partial mask", partial, 1, 32);
    RUINS(cudaErrorIllegalAddress, "not in device memory", touch, 1, 32);
    refused(1, 32, cudaSuccess);
    EXPECT(!strcmp(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure"));
    EXPECT(!strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
    return expect_failures != 0;
}
