// The one device, its streams and its events.  A stream holds nothing, since
// all its work is done by the time a call returns; an event is a time.
#include <mutex>
#include <set>
#include <stdio.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include "host.h"

struct CUstream_st {
    unsigned flags;
};

struct CUevent_st {
    bool     timed, recorded;
    timespec when;
};

namespace {

// What the caller has made and not destroyed: anything else is no handle.
struct Handles {
    std::mutex            lock;
    std::set<const void *> live;
};

Handles handles;

void add_handle(const void *handle)
{
    std::lock_guard<std::mutex> hold(handles.lock);
    handles.live.insert(handle);
}

bool is_handle(const void *handle)
{
    std::lock_guard<std::mutex> hold(handles.lock);
    return handles.live.count(handle) != 0;
}

bool remove_handle(const void *handle)
{
    std::lock_guard<std::mutex> hold(handles.lock);
    return handles.live.erase(handle) != 0;
}

cudaError_t about_stream(cudaStream_t stream)
{
    return finish(is_stream(stream) ? cudaSuccess
                                    : cudaErrorInvalidResourceHandle);
}

cudaError_t about_event(cudaEvent_t event)
{
    return finish(is_handle(event) ? cudaSuccess
                                   : cudaErrorInvalidResourceHandle);
}

}

// The null stream and the two with special names always exist.
bool is_stream(cudaStream_t stream)
{
    return (uintptr_t)stream <= 2 || is_handle(stream);
}

cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count) return finish(cudaErrorInvalidValue);
    *count = 1;
    return finish(cudaSuccess);
}

cudaError_t cudaGetDevice(int *device)
{
    if (!device) return finish(cudaErrorInvalidValue);
    *device = 0;
    return finish(cudaSuccess);
}

cudaError_t cudaSetDevice(int device)
{
    return finish(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
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
    return finish(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version) return finish(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return finish(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return cudaRuntimeGetVersion(version);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                  const void *kernel)
{
    if (!attributes) return finish(cudaErrorInvalidValue);
    if (!kernel) return finish(cudaErrorInvalidDeviceFunction);
    *attributes = {};
    attributes->maxThreadsPerBlock = MAX_THREADS;
    return finish(cudaSuccess);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    if (!stream || flags > cudaStreamNonBlocking)
        return finish(cudaErrorInvalidValue);
    *stream = new CUstream_st{flags};
    add_handle(*stream);
    return finish(cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (!remove_handle(stream)) return finish(cudaErrorInvalidResourceHandle);
    delete stream;
    return finish(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return about_stream(stream);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return about_stream(stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned)
{
    cudaError_t error = about_stream(stream);
    return error ? error : about_event(event);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                  cudaStreamCaptureStatus *status)
{
    if (!status) return finish(cudaErrorInvalidValue);
    *status = cudaStreamCaptureStatusNone;
    return about_stream(stream);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    if (!event) return finish(cudaErrorInvalidValue);
    *event = new CUevent_st{!(flags & cudaEventDisableTiming), false, {}};
    add_handle(*event);
    return finish(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (!remove_handle(event)) return finish(cudaErrorInvalidResourceHandle);
    delete event;
    return finish(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (!is_handle(event) || !is_stream(stream))
        return finish(cudaErrorInvalidResourceHandle);
    clock_gettime(CLOCK_MONOTONIC, &event->when);
    event->recorded = true;
    return finish(cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return about_event(event);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return about_event(event);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start,
                                 cudaEvent_t end)
{
    if (!milliseconds) return finish(cudaErrorInvalidValue);
    if (!is_handle(start) || !is_handle(end) || !start->timed || !end->timed ||
        !start->recorded || !end->recorded)
        return finish(cudaErrorInvalidResourceHandle);
    double seconds = (double)(end->when.tv_sec - start->when.tv_sec);
    double rest = (double)(end->when.tv_nsec - start->when.tv_nsec);
    *milliseconds = (float)(1e3 * seconds + 1e-6 * rest);
    return finish(cudaSuccess);
}
