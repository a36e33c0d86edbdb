// Memory, streams and events: fresh memory is NaN, copies check which side is
// the device's, handles that do not exist are refused.
#include <chrono>
#include <cuda_runtime.h>
#include <string.h>
#include <vector>
#include "expect.h"

__device__ static float device_table[64];

static void test_fresh()
{
    float *x;
    double *wide;
    size_t before, during, total;
    EXPECT_SUCCESS(cudaMemGetInfo(&before, &total));
    EXPECT_SUCCESS(cudaMalloc(&x, 4000));
    EXPECT_SUCCESS(cudaMalloc(&wide, 1 << 20));
    EXPECT_SUCCESS(cudaMemGetInfo(&during, &total));
    EXPECT(before - during >= (1 << 20) + 4000);
    EXPECT((size_t)x % 4096 == 0);
    int numbers = 0;
    for (int i = 0; i < 1000; i++) numbers += !isnan(x[i]);
    for (int i = 0; i < 1 << 17; i++) numbers += !isnan(wide[i]);
    EXPECT(numbers == 0);
    EXPECT(cudaFree((char *)x + 256) == cudaErrorInvalidValue);
    EXPECT_SUCCESS(cudaFree(x));
    EXPECT(cudaFree(x) == cudaErrorInvalidValue);
    EXPECT_SUCCESS(cudaFree(wide));
    EXPECT_SUCCESS(cudaFree(nullptr));
    void *huge;
    EXPECT(cudaMalloc(&huge, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
}

static void test_copies()
{
    std::vector<float> host(100, 3.0f), back(100, 0.0f);
    float *device, *other;
    const size_t bytes = 400;
    EXPECT_SUCCESS(cudaMalloc(&device, bytes));
    EXPECT_SUCCESS(cudaMallocHost(&other, bytes));
    EXPECT_SUCCESS(cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice));
    EXPECT_SUCCESS(cudaMemcpy(other, device, bytes, cudaMemcpyDeviceToHost));
    EXPECT_SUCCESS(cudaMemcpyAsync(back.data(), other, bytes, cudaMemcpyDefault));
    EXPECT(back == host);
    EXPECT_SUCCESS(cudaMemsetAsync(device, 0, bytes));
    EXPECT_SUCCESS(cudaMemcpy(back.data(), device, bytes, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == 0 && back[99] == 0);
    EXPECT(cudaMemcpy(device, host.data(), bytes, cudaMemcpyDeviceToHost) ==
           cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(device, host.data(), bytes + 4, cudaMemcpyHostToDevice) ==
           cudaErrorInvalidValue);
    EXPECT(cudaMemset(host.data(), 0, 4) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(nullptr, host.data(), 4, cudaMemcpyHostToHost) == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT_SUCCESS(cudaFree(device));
    EXPECT_SUCCESS(cudaFreeHost(other));
}

// Freed memory and the end of an allocation are known, device memory's and pinned.
static void test_freed()
{
    std::vector<char> host(8192, 1);
    char *device, *pinned, *other;
    EXPECT_SUCCESS(cudaMalloc(&device, 4096));
    EXPECT_SUCCESS(cudaMallocHost(&pinned, 4096));
    EXPECT(cudaMemcpy(host.data(), pinned, 4097, cudaMemcpyDefault) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(pinned + 4000, host.data(), 97, cudaMemcpyHostToHost) ==
           cudaErrorInvalidValue);
    EXPECT_SUCCESS(cudaFree(device));
    EXPECT_SUCCESS(cudaFreeHost(pinned));
    EXPECT_SUCCESS(cudaMalloc(&other, 4096));
    for (char *freed : {device, pinned}) {
        cudaPointerAttributes attributes;
        EXPECT(freed != other);
        EXPECT_SUCCESS(cudaPointerGetAttributes(&attributes, freed));
        EXPECT(attributes.type == cudaMemoryTypeUnregistered);
        EXPECT(cudaMemcpy(host.data(), freed, 8, cudaMemcpyDefault) == cudaErrorInvalidValue);
        EXPECT(strstr(cuda_host_report(), "reads memory that was freed"));
        EXPECT(cudaMemcpy(freed + 64, host.data(), 8, cudaMemcpyDefault) == cudaErrorInvalidValue);
        EXPECT(strstr(cuda_host_report(), "writes memory that was freed"));
        EXPECT(cudaMemset(freed, 0, 8) == cudaErrorInvalidValue);
        EXPECT(strstr(cuda_host_report(), "memory that was freed"));
        EXPECT(cudaFree(freed) == cudaErrorInvalidValue);
    }
    EXPECT_SUCCESS(cudaFree(other));
    // Their addresses are used again in the end.
    for (int i = 0; i < 3000; i++) {
        EXPECT_SUCCESS(cudaMalloc(&other, i + 1));
        EXPECT_SUCCESS(cudaFree(other));
    }
    for (int i = 0; i < 40; i++) {
        EXPECT_SUCCESS(cudaMalloc(&other, (size_t)1 << 20));
        EXPECT_SUCCESS(cudaFree(other));
    }
    cudaGetLastError();
}

static void test_symbol()
{
    void *address;
    float values[64] = {1.0f};
    cudaPointerAttributes attributes;
    EXPECT_SUCCESS(cudaGetSymbolAddress(&address, device_table));
    EXPECT_SUCCESS(cudaMemcpy(address, values, sizeof values, cudaMemcpyHostToDevice));
    EXPECT(device_table[0] == 1.0f);
    EXPECT_SUCCESS(cudaPointerGetAttributes(&attributes, address));
    EXPECT(attributes.type == cudaMemoryTypeDevice);
    EXPECT_SUCCESS(cudaPointerGetAttributes(&attributes, values));
    EXPECT(attributes.type == cudaMemoryTypeUnregistered);
}

static void test_handles()
{
    cudaStream_t stream;
    cudaEvent_t start, end;
    float milliseconds = -1;
    EXPECT_SUCCESS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    EXPECT_SUCCESS(cudaEventCreate(&start));
    EXPECT_SUCCESS(cudaEventCreate(&end));
    const auto before = std::chrono::steady_clock::now();
    EXPECT_SUCCESS(cudaEventRecord(start, stream));
    EXPECT_SUCCESS(cudaEventRecord(end, stream));
    EXPECT_SUCCESS(cudaEventSynchronize(end));
    const std::chrono::duration<float, std::milli> around =
        std::chrono::steady_clock::now() - before;
    EXPECT_SUCCESS(cudaEventElapsedTime(&milliseconds, start, end));
    EXPECT(milliseconds >= 0 && milliseconds <= around.count());
    EXPECT_SUCCESS(cudaEventDestroy(start));
    EXPECT(cudaEventRecord(start, stream) == cudaErrorInvalidResourceHandle);
    EXPECT_SUCCESS(cudaEventDestroy(end));
    EXPECT_SUCCESS(cudaStreamSynchronize(stream));
    EXPECT_SUCCESS(cudaStreamDestroy(stream));
    EXPECT(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
    EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
}

int main()
{
    test_fresh();
    test_copies();
    test_freed();
    test_symbol();
    test_handles();
    return expect_failures != 0;
}
