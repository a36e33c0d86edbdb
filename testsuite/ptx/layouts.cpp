// Prints the layouts of CUDA's structs and the texts of its errors, as the
// headers and the library have them with which it is compiled.
#include <cstddef>
#include <cstdio>

#include <cuda_runtime_api.h>

#define MEMBER(type, member)                                                   \
    printf(#type " " #member " %zu %zu\n", offsetof(type, member),             \
           sizeof(((type *)nullptr)->member))
#define VALUE(name) printf(#name " %d\n", (int)(name))

int main()
{
    typedef cudaDeviceProp D;
    typedef cudaFuncAttributes F;
    typedef cudaPointerAttributes P;
    printf("%zu %zu %zu\n", sizeof(D), sizeof(F), sizeof(P));
    MEMBER(D, name);
    MEMBER(D, totalGlobalMem);
    MEMBER(D, sharedMemPerBlock);
    MEMBER(D, regsPerBlock);
    MEMBER(D, warpSize);
    MEMBER(D, memPitch);
    MEMBER(D, maxThreadsPerBlock);
    MEMBER(D, maxThreadsDim);
    MEMBER(D, maxGridSize);
    MEMBER(D, totalConstMem);
    MEMBER(D, major);
    MEMBER(D, minor);
    MEMBER(D, multiProcessorCount);
    MEMBER(D, integrated);
    MEMBER(D, surfaceAlignment);
    MEMBER(D, l2CacheSize);
    MEMBER(D, persistingL2CacheMaxSize);
    MEMBER(D, maxThreadsPerMultiProcessor);
    MEMBER(D, sharedMemPerMultiprocessor);
    MEMBER(F, sharedSizeBytes);
    MEMBER(F, constSizeBytes);
    MEMBER(F, localSizeBytes);
    MEMBER(F, maxThreadsPerBlock);
    MEMBER(F, numRegs);
    MEMBER(F, ptxVersion);
    MEMBER(F, binaryVersion);
    MEMBER(F, cacheModeCA);
    MEMBER(F, maxDynamicSharedSizeBytes);
    MEMBER(P, type);
    MEMBER(P, device);
    MEMBER(P, devicePointer);
    MEMBER(P, hostPointer);
    VALUE(cudaMemcpyHostToHost);
    VALUE(cudaMemcpyHostToDevice);
    VALUE(cudaMemcpyDeviceToHost);
    VALUE(cudaMemcpyDeviceToDevice);
    VALUE(cudaMemcpyDefault);
    VALUE(cudaMemoryTypeUnregistered);
    VALUE(cudaMemoryTypeHost);
    VALUE(cudaMemoryTypeDevice);
    VALUE(cudaMemoryTypeManaged);
    VALUE(cudaStreamCaptureStatusActive);
    VALUE(cudaStreamCaptureStatusInvalidated);
    VALUE(cudaStreamCaptureModeGlobal);
    VALUE(cudaStreamCaptureModeThreadLocal);
    VALUE(cudaStreamCaptureModeRelaxed);
    VALUE(cudaStreamNonBlocking);
    VALUE(cudaEventBlockingSync);
    VALUE(cudaEventDisableTiming);
    VALUE(cudaHostAllocPortable);
    for (int i = 0; i < 1000; i++)
        printf("%d %s: %s\n", i, cudaGetErrorName((cudaError_t)i),
               cudaGetErrorString((cudaError_t)i));
}
