// The calls of cudart that emitted files do not need, and its errors:
//
//     calls NAME
//
// The script `calls` compiles it, and says for each NAME how it must end.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

namespace {

__device__ int counts[4] = {1, 2, 3, 4};
__constant__ float factor = 0.5f;

struct Mixed {
    char   letter;
    double real;
    short  small[3];
};

// Its parameters have gaps.
__global__ void mix(char a, Mixed b, float *to, short c)
{
    to[0] = (float)a;
    to[1] = (float)b.letter;
    to[2] = (float)b.real;
    to[3] = (float)b.small[2];
    to[4] = (float)c * factor;
    to[5] = (float)counts[threadIdx.x];
    counts[3] = 9;
}

__global__ void touch(float *at, int index)
{
    at[index] = 1;
}

__global__ void dynamic(float *at)
{
    extern __shared__ float shared[];
    shared[0] = 1;
    at[0] = shared[0];
}

__global__ void unknown(float *at)
{
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(at));
}

int failures = 0;

void expect(const char *what, bool holds)
{
    if (holds) return;
    printf("calls: %s\n", what);
    failures++;
}

void succeed(const char *what, cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("calls: %s: %s\n", what, cudaGetErrorString(error));
    failures++;
}
#define DO(call) succeed(#call, call)

void use_variables(float *to)
{
    const float three = 3;
    int         number = 7, back[4];
    void       *at = nullptr;
    size_t      bytes = 0;
    DO(cudaMemcpyToSymbol(factor, &three, sizeof three));
    DO(cudaMemcpyToSymbolAsync(counts, &number, sizeof number, 4,
                               cudaMemcpyHostToDevice, 0));
    mix<<<1, 1>>>('x', {'y', 2.5, {1, 2, -3}}, to, 4);
    DO(cudaGetLastError());
    float results[6];
    DO(cudaMemcpy(results, to, sizeof results, cudaMemcpyDeviceToHost));
    const float wanted[6] = {'x', 'y', 2.5f, -3, 12, 1};
    expect("a kernel's parameters", !memcmp(results, wanted, sizeof wanted));
    DO(cudaMemcpyFromSymbol(back, counts, sizeof back));
    expect("a variable's values", back[0] == 1 && back[1] == 7 && back[3] == 9);
    DO(cudaGetSymbolSize(&bytes, counts));
    DO(cudaGetSymbolAddress(&at, counts));
    expect("a variable's size", bytes == sizeof back);
    DO(cudaMemset(at, 0, bytes));
    DO(cudaMemcpyFromSymbolAsync(back, counts, sizeof number, 12,
                                 cudaMemcpyDeviceToHost, 0));
    DO(cudaDeviceSynchronize());
    expect("a variable's address", back[0] == 0);
    expect("a copy beyond a variable",
           cudaMemcpyToSymbol(counts, back, 8, 12) == cudaErrorInvalidValue);
    expect("a symbol that is none",
           cudaMemcpyToSymbol(failures, back, 4) == cudaErrorInvalidSymbol);
    cudaGetLastError();
}

void use_launches(float *to)
{
    int            index = 2;
    void          *arguments[] = {&to, &index};
    cudaDeviceProp device;
    DO(cudaLaunchKernel((const void *)touch, dim3(1), dim3(1), arguments, 0, 0));
    float result = 0;
    DO(cudaMemcpy(&result, to + 2, sizeof result, cudaMemcpyDefault));
    expect("a launch by a function's address", result == 1);
    DO(cudaGetDeviceProperties(&device, 0));
    expect("the device", device.major == 8 && device.multiProcessorCount > 0);
    touch<<<1, 2048>>>(to, 0);
    expect("a block beyond the limits",
           cudaGetLastError() == cudaErrorInvalidConfiguration);
}

// Launches the kernel that must fail and prints its error.
void fail(const char *name, float *to)
{
    if (!strcmp(name, "beyond")) touch<<<1, 1>>>(to, 8);
    else if (!strcmp(name, "dynamic")) dynamic<<<1, 1, 64>>>(to);
    else if (!strcmp(name, "unknown")) unknown<<<1, 1>>>(to);
    else if (!strcmp(name, "managed")) cudaMallocManaged((void **)&to, 64);
    cudaError_t error = cudaDeviceSynchronize();
    if (!error) error = cudaGetLastError();
    printf("calls: %s\n", cudaGetErrorName(error));
    failures += error != cudaSuccess;
}

}

int main(int, char **argument)
{
    float *to = nullptr;
    DO(cudaMalloc(&to, 8 * sizeof *to));
    if (strcmp(argument[1], "sound")) {
        fail(argument[1], to);
    } else {
        use_variables(to);
        use_launches(to);
    }
    return failures > 0;
}
