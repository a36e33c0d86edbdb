// CNNC_HOST_DEFER: nothing is done before somebody waits for it, streams and
// events keep their order, and device memory is shut to the program.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <signal.h>
#include <stdlib.h>
#include "child.h"
#include "expect.h"

static const cudaMemcpyKind TO = cudaMemcpyHostToDevice, FROM = cudaMemcpyDeviceToHost;

__global__ void add(int *x, int what)
{
    *x += what;
}

__global__ void twice(int *y, const int *x)
{
    *y = 2 * *x;
}

// Threads that disagree at a barrier: the launch fails when it runs.
__global__ void diverge(int *)
{
    if (threadIdx.x < 32) __syncthreads();
}

static int *device_int(int value)
{
    int *x;
    EXPECT_SUCCESS(cudaMalloc(&x, sizeof *x));
    EXPECT_SUCCESS(cudaMemcpy(x, &value, sizeof value, TO));
    return x;
}

static int value_of(const int *x)
{
    int value = -1;
    EXPECT_SUCCESS(cudaMemcpy(&value, x, sizeof value, FROM));
    return value;
}

// The copy out goes to pinned memory: there when the stream has been waited for.
static void test_waiting(cudaStream_t stream)
{
    int *x = device_int(5), *pinned;
    EXPECT_SUCCESS(cudaMallocHost(&pinned, sizeof *pinned));
    *pinned = -1;
    LAUNCH(-1, add, 1, 1, x, 2);
    EXPECT_SUCCESS(cudaMemcpyAsync(pinned, x, sizeof *x, FROM, stream));
    EXPECT(*pinned == -1);
    EXPECT(cudaStreamQuery(stream) == cudaErrorNotReady);
    EXPECT(*pinned == -1);
    EXPECT_SUCCESS(cudaStreamQuery(stream));
    EXPECT(*pinned == 7);
    EXPECT_SUCCESS(cudaFreeHost(pinned));
    EXPECT_SUCCESS(cudaFree(x));
}

// A write that is too early shows where memory is pinned; pageable memory is
// taken when the copy is asked for, and written before it returns.
static void test_sources(cudaStream_t stream)
{
    int *x = device_int(0), *pinned, pageable = 3, back = -1;
    EXPECT_SUCCESS(cudaMallocHost(&pinned, sizeof *pinned));
    *pinned = 3;
    EXPECT_SUCCESS(cudaMemcpyAsync(x, pinned, sizeof *x, TO, stream));
    *pinned = 4;
    EXPECT_SUCCESS(cudaStreamSynchronize(stream));
    EXPECT(value_of(x) == 4);
    EXPECT_SUCCESS(cudaMemcpyAsync(x, &pageable, sizeof *x, TO, stream));
    pageable = 4;
    LAUNCH(-1, add, 1, 1, x, 10);
    EXPECT_SUCCESS(cudaMemcpyAsync(&back, x, sizeof *x, FROM, stream));
    EXPECT(back == 13);
    EXPECT_SUCCESS(cudaMemsetAsync(x, 0, sizeof *x, stream));
    EXPECT_SUCCESS(cudaFreeHost(pinned));
    EXPECT(value_of(x) == 0);
    EXPECT_SUCCESS(cudaFree(x));
}

// y = 2 x in one stream, x += 1 in another; `ordered`: an event orders them.
static int run_across(bool ordered)
{
    cudaStream_t stream, first, second;
    cudaEvent_t added;
    int *x = device_int(1), *y = device_int(0);
    EXPECT_SUCCESS(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    EXPECT_SUCCESS(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    EXPECT_SUCCESS(cudaEventCreate(&added));
    stream = first;
    LAUNCH(-1, add, 1, 1, x, 1);
    EXPECT_SUCCESS(cudaEventRecord(added, first));
    LAUNCH(-1, add, 1, 1, x, 1);
    if (ordered) EXPECT_SUCCESS(cudaStreamWaitEvent(second, added));
    stream = second;
    LAUNCH(-1, twice, 1, 1, y, x);
    EXPECT_SUCCESS(cudaStreamSynchronize(second));
    int result = value_of(y);
    EXPECT((cudaEventQuery(added) == cudaSuccess) == ordered);
    EXPECT_SUCCESS(cudaEventSynchronize(added));
    EXPECT(value_of(x) == 2);
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    EXPECT(value_of(x) == 3);
    EXPECT_SUCCESS(cudaEventDestroy(added));
    EXPECT_SUCCESS(cudaStreamDestroy(first));
    EXPECT_SUCCESS(cudaStreamDestroy(second));
    EXPECT_SUCCESS(cudaFree(x));
    EXPECT_SUCCESS(cudaFree(y));
    return result;
}

// The legacy stream runs after the work of blocking streams, and they after
// it; a stream that does not block knows nothing of it.
static void test_legacy()
{
    cudaStream_t stream, blocking, free_one;
    int *x = device_int(1), *y = device_int(0);
    EXPECT_SUCCESS(cudaStreamCreate(&blocking));
    EXPECT_SUCCESS(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
    stream = blocking;
    LAUNCH(-1, add, 1, 1, x, 1);
    stream = nullptr;
    LAUNCH(-1, twice, 1, 1, y, x);
    stream = blocking;
    LAUNCH(-1, add, 1, 1, y, 100);
    EXPECT_SUCCESS(cudaStreamSynchronize(blocking));
    EXPECT(value_of(x) == 2 && value_of(y) == 104);
    stream = free_one;
    LAUNCH(-1, add, 1, 1, x, 50);
    EXPECT(value_of(x) == 2);
    EXPECT_SUCCESS(cudaStreamDestroy(free_one));
    EXPECT(value_of(x) == 52);
    EXPECT_SUCCESS(cudaStreamDestroy(blocking));
    EXPECT_SUCCESS(cudaFree(x));
    EXPECT_SUCCESS(cudaFree(y));
}

// alpha is the host's and read at once; the product is done later.
static void test_product(cudaStream_t stream)
{
    float *c, one = 1, zero = 0, two = 2, back = 0;
    cublasHandle_t handle;
    EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS);
    EXPECT_SUCCESS(cudaMalloc(&c, 2 * sizeof *c));
    EXPECT_SUCCESS(cudaMemcpyAsync(c, &two, sizeof *c, TO, stream));
    EXPECT(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &two, c, 1, c, 1, &zero, c + 1,
                       1) == CUBLAS_STATUS_SUCCESS);
    two = one;
    EXPECT_SUCCESS(cudaMemcpyAsync(&back, c + 1, sizeof *c, FROM, stream));
    EXPECT(back == 8);
    EXPECT(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
    EXPECT_SUCCESS(cudaFree(c));
}

// A launch that fails does so when it runs; later work is dropped.
static void test_late_failure(cudaStream_t stream)
{
    int *x = device_int(0);
    LAUNCH(3, diverge, 1, 64, x);
    LAUNCH(4, add, 1, 1, x, 1);
    EXPECT_SUCCESS(cudaGetLastError());
    EXPECT(cudaStreamSynchronize(stream) == cudaErrorLaunchFailure);
    EXPECT(cudaGetLastError() == cudaErrorLaunchFailure);
    EXPECT(strstr(cuda_host_report(), "kernel diverge, step 3") != nullptr);
    EXPECT_SUCCESS(cudaDeviceReset());
}

static void test_host_access()
{
    char *x;
    EXPECT_SUCCESS(cudaMalloc(&x, 5000));
    ChildEnd reads = run_child([=] { x[0] = x[4099]; });
    ChildEnd writes = run_child([=] { memset(x + 7, 0, 1); });
    char *volatile nowhere = (char *)16;
    ChildEnd elsewhere = run_child([=] { *nowhere = 1; });
    ChildEnd harmless = run_child([=] { cudaMemset(x, 0, 5000); });
#ifndef __SANITIZE_ADDRESS__
    EXPECT(reads.signal == SIGSEGV && writes.signal == SIGSEGV && elsewhere.signal == SIGSEGV);
#endif
    const char *said = "host access to device memory at ";
    EXPECT(reads.said.find(said) != std::string::npos);
    EXPECT(reads.said.find("offset 4099 in an allocation of 5000 bytes") != std::string::npos);
    EXPECT(writes.said.find("offset 7 in") != std::string::npos);
    EXPECT(elsewhere.said.find(said) == std::string::npos);
    EXPECT(!harmless.signal && !harmless.status);
    EXPECT_SUCCESS(cudaFree(x));
}

int main()
{
    setenv("CNNC_HOST_DEFER", "1", 1);
    cudaStream_t stream;
    EXPECT_SUCCESS(cudaStreamCreate(&stream));
    test_waiting(stream);
    test_sources(stream);
    EXPECT(run_across(true) == 4);
    EXPECT(run_across(false) == 2); // the fault that streams which run at once hide
    test_legacy();
    test_product(stream);
    test_host_access();
    test_late_failure(stream);
    return expect_failures != 0;
}
