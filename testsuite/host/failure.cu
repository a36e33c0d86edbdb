// Launches that must fail: beyond the limits, with addresses that are not the
// device's, with threads that diverge.  A failed launch fails all that follows
// until cudaDeviceReset; a refused one is forgotten once it has been asked for.
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>
#include <string>
#include "expect.h"

__global__ void touch(int *y)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) *y = 1;
}

// Half of the threads of a warp end before the barrier.
__global__ void half_ends(int *y)
{
    __shared__ int seen;
    if (threadIdx.x >= 32 && threadIdx.x < 48) return;
    seen = 1;
    // line HALF_ENDS
    __syncthreads();
    *y = seen;
}

// Whole warps end before the barrier.
__global__ void warps_end(int *)
{
    // line WARPS_END
    if (threadIdx.x < 64) __syncthreads();
}

// Lanes of one warp wait at different kinds of barrier.
__global__ void mixed(int *y)
{
    // line MIXED
    if (threadIdx.x % 2) __syncthreads();
    else *y = __shfl_sync(0xffffffffu, 1, 0);
}

// Every thread meets a barrier, but not all the same.
__global__ void two_barriers(int *y)
{
    // line TWO_BARRIERS
    if (threadIdx.x < 32) __syncthreads();
    else __syncthreads();
    *y = 1;
}

// A shuffle with lanes that have ended, and one with lanes at another shuffle.
__global__ void dead_lanes(int *y)
{
    if (threadIdx.x >= 40) return;
    // line DEAD_LANES
    *y = __shfl_xor_sync(0xffffffffu, 1, 1);
}

__global__ void two_shuffles(int *y)
{
    // line TWO_SHUFFLES
    if (threadIdx.x < 8) *y = __shfl_down_sync(0xffffffffu, 1, 1);
    else *y = __shfl_down_sync(0xffffffffu, 1, 1);
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

// Where a call stands: the line after the comment "line NAME" in this file.
static std::string after(const char *name, int lines)
{
    FILE *file = fopen(__FILE__, "r");
    std::string wanted = std::string("// line ") + name + "\n";
    char line[256];
    int number = 1;
    EXPECT(file != nullptr);
    while (file && fgets(line, sizeof line, file) && !strstr(line, wanted.c_str())) number++;
    if (file) fclose(file);
    return std::string(__FILE__) + ":" + std::to_string(number + lines);
}

// Who waits where is in the report, whatever the order that they came in.
static void test_divergence()
{
    const cudaError_t ruined = cudaErrorLaunchFailure;
    std::string at = after("HALF_ENDS", 1);
    RUINS(ruined, ("block (0, 0, 0): barrier divergence in a warp: threads 0-31, 48-63 (48) wait "
                   "at __syncthreads, " + at + "; threads 32-47 (16) have ended").c_str(),
          half_ends, 1, 64);
    RUINS(ruined, "divergence", half_ends, 1000, 256);
    at = after("WARPS_END", 1);
    RUINS(ruined, ("barrier divergence: threads 0-63 (64) wait at __syncthreads, " + at +
                   "; threads 64-127 (64) have ended").c_str(), warps_end, 1, 128);
    at = after("MIXED", 2);
    RUINS(ruined, ("threads 0, 2, 4, 6 and 12 more (16) wait at __shfl_sync, " + at).c_str(),
          mixed, 1, 32);
    at = after("MIXED", 1);
    RUINS(ruined, ("threads 1, 3, 5, 7 and 12 more (16) wait at __syncthreads, " + at).c_str(),
          mixed, 1, 32);
    at = "threads 0-31 (32) wait at __syncthreads, " + after("TWO_BARRIERS", 1) +
         "; threads 32-63 (32) wait at __syncthreads, " + after("TWO_BARRIERS", 2);
    RUINS(ruined, at.c_str(), two_barriers, 1, 64);
    at = "threads 0-31, 40-63 (56) have ended; threads 32-39 (8) wait at __shfl_xor_sync, " +
         after("DEAD_LANES", 1);
    RUINS(ruined, at.c_str(), dead_lanes, 1, 64);
    at = "threads 0-7 (8) wait at __shfl_down_sync, " + after("TWO_SHUFFLES", 1) +
         "; threads 8-31 (24) wait at __shfl_down_sync, " + after("TWO_SHUFFLES", 2);
    RUINS(ruined, at.c_str(), two_shuffles, 1, 32);
}

int main()
{
    test_limits();
    test_divergence();
    RUINS(cudaErrorLaunchFailure, "partial mask", partial, 1, 32);
    RUINS(cudaErrorIllegalAddress, "not in device memory", touch, 1, 32);
    refused(1, 32, cudaSuccess);
    EXPECT(!strcmp(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure"));
    EXPECT(!strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
    return expect_failures != 0;
}
