// The only device and its properties.
#include <stdio.h>
#include <thread>
#include <unistd.h>
#include "host.h"

cudaError_t cudaGetDeviceCount(int *count)
{
    Call call("cudaGetDeviceCount");
    if (call.error) return call.error;
    if (!count) return finish(cudaErrorInvalidValue);
    *count = 1;
    return finish(cudaSuccess);
}

cudaError_t cudaGetDevice(int *device)
{
    Call call("cudaGetDevice");
    if (call.error) return call.error;
    if (!device) return finish(cudaErrorInvalidValue);
    *device = 0;
    return finish(cudaSuccess);
}

cudaError_t cudaSetDevice(int device)
{
    Call call("cudaSetDevice");
    if (call.error) return call.error;
    return finish(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    Call call("cudaGetDeviceProperties");
    if (call.error) return call.error;
    if (!properties) return finish(cudaErrorInvalidValue);
    if (device != 0) return finish(cudaErrorInvalidDevice);
    cudaDeviceProp p = {};
    snprintf(p.name, sizeof p.name, "host CPU");
    p.totalGlobalMem =
        (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)getpagesize();
    p.sharedMemPerBlock = p.sharedMemPerMultiprocessor = 48 << 10;
    p.regsPerBlock = 65536;
    p.warpSize = WARP;
    p.maxThreadsPerBlock = p.maxThreadsPerMultiProcessor = MAX_THREADS;
    p.maxThreadsDim[0] = p.maxThreadsDim[1] = MAX_THREADS;
    p.maxThreadsDim[2] = 64;
    p.maxGridSize[0] = 0x7fffffff;
    p.maxGridSize[1] = p.maxGridSize[2] = 65535;
    p.major = 8;
    p.multiProcessorCount = (int)std::thread::hardware_concurrency();
    p.integrated = 1;
    *properties = p;
    return finish(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize(void)
{
    Call call("cudaDeviceSynchronize");
    if (call.error) return call.error;
    if (cudaError_t error = check_capture()) return error;
    return finish_streams();
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    Call call("cudaRuntimeGetVersion");
    if (call.error) return call.error;
    if (!version) return finish(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return finish(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    Call call("cudaDriverGetVersion");
    if (call.error) return call.error;
    return cudaRuntimeGetVersion(version);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                  const void *kernel)
{
    Call call("cudaFuncGetAttributes");
    if (call.error) return call.error;
    if (!attributes) return finish(cudaErrorInvalidValue);
    if (!kernel) return finish(cudaErrorInvalidDeviceFunction);
    *attributes = {};
    attributes->maxThreadsPerBlock = MAX_THREADS;
    return finish(cudaSuccess);
}
