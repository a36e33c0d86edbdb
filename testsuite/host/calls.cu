// Calls are counted, one can be made to fail, and memory can be forbidden.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <signal.h>
#include <stdlib.h>
#include "child.h"
#include "expect.h"
#include "testing.h"

__global__ void touch(int *x)
{
    *x += 1;
}

static int *memory;
static cublasHandle_t cublas;

// Six calls; the number of the one that failed.
static int six_calls()
{
    cudaStream_t stream = nullptr;
    float *at = (float *)memory, one = 1;
    int failed = 0;
    if (cudaMemsetAsync(memory, 0, 4, stream)) failed = 1, cudaGetLastError();
    LAUNCH(7, touch, 1, 1, memory);
    if (cudaGetLastError()) failed = 2;
    if (cublasSetStream(cublas, stream)) failed = 3;
    LIBRARY_STEP(9);
    if (cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, at, 1, at, 1, &one, at, 1))
        failed = 4;
    if (cudaStreamSynchronize(stream)) failed = 5;
    if (cudaDeviceSynchronize()) failed = 6;
    cudaGetLastError();
    return failed;
}

static void test_failing()
{
    static const char *const names[] = {
        "cudaMemsetAsync", "touch", "cublasSetStream", "cublasSgemm", "cudaStreamSynchronize",
        "cudaDeviceSynchronize"};
    cuda_host_fail(0, cudaErrorUnknown);
    EXPECT(six_calls() == 0 && cuda_host_calls() == 6 && !cuda_host_failed());
    for (int k = 1; k <= 6; k++) {
        cuda_host_fail(k, cudaErrorMemoryAllocation);
        EXPECT(six_calls() == k);
        EXPECT(cuda_host_calls() == 6);
        EXPECT(cuda_host_failed() && !strcmp(cuda_host_failed()->call, names[k - 1]));
        EXPECT(cuda_host_failed()->step == (k == 2 ? 7 : k == 4 ? 9 : -1));
    }
    cuda_host_fail(7, cudaErrorUnknown);
    EXPECT(six_calls() == 0 && !cuda_host_failed());
    cuda_host_fail(0, cudaErrorUnknown);
}

// A failed call does nothing; an error that ruins the device stays.
static void test_what_remains()
{
    cudaStream_t stream = nullptr;
    EXPECT_SUCCESS(cudaMemset(memory, 0, 4));
    cuda_host_fail(1, cudaErrorUnknown);
    LAUNCH(-1, touch, 1, 1, memory);
    EXPECT(cudaGetLastError() == cudaErrorUnknown);
    EXPECT_SUCCESS(cudaGetLastError());
    EXPECT(*memory == 0);
    cuda_host_fail(1, cudaErrorIllegalAddress);
    EXPECT(cublasSetStream(cublas, stream) == CUBLAS_STATUS_EXECUTION_FAILED);
    EXPECT(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    cuda_host_fail(0, cudaSuccess);
    EXPECT_SUCCESS(cudaDeviceReset());
    EXPECT_SUCCESS(cudaStreamSynchronize(stream));
}

static bool aborts(ChildEnd end, const char *call)
{
    return end.signal == SIGABRT &&
           end.said.find(std::string(call) + ", and the program was to take no more memory") !=
               std::string::npos;
}

static void test_forbidding()
{
    void *more;
    cudaStream_t stream;
    cudaEvent_t event;
    cublasHandle_t handle;
    cuda_host_forbid_memory(1);
    EXPECT(aborts(run_child([&] { cudaMalloc(&more, 1); }), "cudaMalloc"));
    EXPECT(aborts(run_child([&] { cudaMallocHost(&more, 1); }), "cudaMallocHost"));
    EXPECT(aborts(run_child([&] { cudaHostAlloc(&more, 1, 0); }), "cudaHostAlloc"));
    EXPECT(aborts(run_child([&] { cudaStreamCreate(&stream); }), "cudaStreamCreate"));
    EXPECT(aborts(run_child([&] { cudaEventCreate(&event); }), "cudaEventCreate"));
    EXPECT(aborts(run_child([&] { cublasCreate(&handle); }), "cublasCreate"));
    EXPECT(run_child([] { six_calls(); }).signal == 0);
    cuda_host_forbid_memory(0);
    EXPECT(run_child([&] { cudaMalloc(&more, 1); }).signal == 0);
}

// CNNC_HOST_STRICT: from the second step 0 on.
static void test_strict()
{
    void *more;
    cudaStream_t stream = nullptr;
    LAUNCH(0, touch, 1, 1, memory);
    LAUNCH(1, touch, 1, 1, memory);
    EXPECT_SUCCESS(cudaMalloc(&more, 1));
    LAUNCH(0, touch, 1, 1, memory);
    EXPECT(aborts(run_child([&] { cudaMalloc(&more, 1); }), "cudaMalloc"));
    EXPECT_SUCCESS(cudaFree(more));
}

int main()
{
    setenv("CNNC_HOST_STRICT", "1", 1);
    EXPECT(!cuda_host_inside());
    EXPECT_SUCCESS(cudaMalloc(&memory, 64));
    EXPECT(cublasCreate(&cublas) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cuda_host_in_use() == 2);
    test_failing();
    test_forbidding();
    test_what_remains();        // resets the device
    EXPECT(cuda_host_in_use() == 1);
    EXPECT_SUCCESS(cudaMalloc(&memory, 64));
    test_strict();
    return expect_failures != 0;
}
