// Replaces CUDA's cuda_runtime_api.h: the calls of the runtime library that
// emitted programs, their trainers and their tests make, with CUDA's names,
// numbers and results.  C and C++ may include it.
//
// There is one device, the CPU.  A stream does all work at once, so even an
// asynchronous call has finished when it returns.  With CNNC_HOST_DEFER, work
// is done only when a call waits for it.  Device memory is host memory that the
// runtime knows.  A copy or a launch that takes another address for it fails,
// as on a GPU.
#ifndef CNNC_HOST_CUDA_RUNTIME_API_H
#define CNNC_HOST_CUDA_RUNTIME_API_H

#include <stddef.h>
#include "vector_types.h"

// Distinguishes this runtime from CUDA's own, for tests of its internals.
#define CUDA_ON_HOST 1
#define CUDART_VERSION 13000
#define CUDART_CB

#ifdef __cplusplus
#define HOST_DEFAULT(value) = value
extern "C" {
#else
#define HOST_DEFAULT(value)
#endif

// The errors of this runtime, one row each: name, number, text.
#define CUDA_HOST_ERRORS(X)                                                    \
    X(cudaSuccess, 0, "no error")                                              \
    X(cudaErrorInvalidValue, 1, "invalid argument")                            \
    X(cudaErrorMemoryAllocation, 2, "out of memory")                           \
    X(cudaErrorInitializationError, 3, "initialization error")                 \
    X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")      \
    X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                     \
    X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")             \
    X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")\
    X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")           \
    X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")            \
    X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                   \
    X(cudaErrorNoKernelImageForDevice, 209,                                    \
      "no kernel image is available for execution on the device")              \
    X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")          \
    X(cudaErrorIllegalState, 401,                                              \
      "the operation cannot be performed in the present state")                \
    X(cudaErrorNotReady, 600, "device not ready")                              \
    X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")\
    X(cudaErrorLaunchOutOfResources, 701,                                      \
      "too many resources requested for launch")                               \
    X(cudaErrorLaunchFailure, 719, "unspecified launch failure")               \
    X(cudaErrorNotSupported, 801, "operation not supported")                   \
    X(cudaErrorStreamCaptureUnsupported, 900,                                  \
      "operation not permitted when stream is capturing")                      \
    X(cudaErrorStreamCaptureInvalidated, 901,                                  \
      "operation failed due to a previous error during capture")               \
    X(cudaErrorStreamCaptureMerge, 902,                                        \
      "operation would result in a merge of separate capture sequences")       \
    X(cudaErrorStreamCaptureUnmatched, 903,                                    \
      "capture was not ended in the same stream as it began")                  \
    X(cudaErrorStreamCaptureUnjoined, 904,                                     \
      "capturing stream has unjoined work")                                    \
    X(cudaErrorStreamCaptureIsolation, 905,                                    \
      "dependency created on uncaptured work in another stream")               \
    X(cudaErrorStreamCaptureImplicit, 906,                                     \
      "operation would make the legacy stream depend on a capturing blocking " \
      "stream")                                                                \
    X(cudaErrorCapturedEvent, 907,                                             \
      "operation not permitted on an event last recorded in a capturing "      \
      "stream")                                                                \
    X(cudaErrorStreamCaptureWrongThread, 908,                                  \
      "attempt to terminate a thread-local capture sequence from another "     \
      "thread")                                                                \
    X(cudaErrorUnknown, 999, "unknown error")

typedef enum cudaError {
#define HOST_ENUM(name, number, text) name = number,
    CUDA_HOST_ERRORS(HOST_ENUM)
#undef HOST_ENUM
} cudaError_t;

typedef enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
} cudaMemcpyKind;

typedef enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged
} cudaMemoryType;

typedef enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone,
    cudaStreamCaptureStatusActive,
    cudaStreamCaptureStatusInvalidated
} cudaStreamCaptureStatus;

typedef enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
} cudaStreamCaptureMode;

enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum {
    cudaEventDefault = 0,
    cudaEventBlockingSync = 1,
    cudaEventDisableTiming = 2
};
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1 };

struct CUstream_st;
typedef struct CUstream_st *cudaStream_t;
struct CUevent_st;
typedef struct CUevent_st *cudaEvent_t;
struct CUgraph_st;
typedef struct CUgraph_st *cudaGraph_t;
struct CUgraphExec_st;
typedef struct CUgraphExec_st *cudaGraphExec_t;

// The structs are laid out as CUDA 13's.  Members without a value here are only
// room.
typedef struct cudaDeviceProp {
    char   name[256];
    char   room1[28];
    size_t totalGlobalMem, sharedMemPerBlock;
    int    regsPerBlock, warpSize;
    size_t memPitch;
    int    maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    size_t totalConstMem;
    int    major, minor;
    size_t room2[2];
    int    multiProcessorCount, integrated, room3[40];
    size_t surfaceAlignment;
    int    room4[9];
    int    l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;
    int    room5[3];
    size_t sharedMemPerMultiprocessor;
    int    room6[94];
} cudaDeviceProp;

typedef struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int    maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion;
    int    cacheModeCA, maxDynamicSharedSizeBytes, room[24];
} cudaFuncAttributes;

typedef struct cudaPointerAttributes {
    cudaMemoryType type;
    int            device;
    void          *devicePointer, *hostPointer;
    long           room[8];
} cudaPointerAttributes;

// errors.cpp.  A failed call is remembered until cudaGetLastError.  After a
// failed launch every later call fails too, until cudaDeviceReset.
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

// Returns the latest report of a failure, "" if none, which was also printed on
// standard error.  CUDA lacks it; it is for tests.
const char *cuda_host_report(void);

// device.cpp.  cudaDeviceReset frees all device memory.
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDriverGetVersion(int *version);

// stream.cpp
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t handle);
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event,
                                unsigned flags HOST_DEFAULT(0));
cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                  cudaStreamCaptureStatus *status);

cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event,
                            cudaStream_t handle HOST_DEFAULT(0));
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start,
                                 cudaEvent_t end);

// stream.cpp.  A capture takes the work of one stream.  Launching the graph
// gives that work to a stream again, with the same arguments.
cudaError_t cudaStreamBeginCapture(cudaStream_t handle,
                                   cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable,
                                          cudaGraph_t graph,
                                          unsigned long long flags
                                              HOST_DEFAULT(0));
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long flags HOST_DEFAULT(0));
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);

// memory.cpp.  Fresh memory holds bytes 0xff: NaN at every precision.
cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMallocHost(void **pointer, size_t bytes);
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind,
                            cudaStream_t stream HOST_DEFAULT(0));
cudaError_t cudaMemset(void *pointer, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes,
                            cudaStream_t stream HOST_DEFAULT(0));
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes,
                                     const void *pointer);

// Returns the address of a __device__ variable, whose bytes count as device
// memory from then on.  C++ has a form that takes the variable itself.
cudaError_t cuda_host_symbol(void **pointer, const void *symbol, size_t bytes);

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                  const void *kernel);

#ifdef __cplusplus
}

// cudaMalloc and similar calls take the address of any pointer, as in CUDA.
template <class T>
static inline cudaError_t cudaMalloc(T **pointer, size_t bytes)
{
    return cudaMalloc((void **)(void *)pointer, bytes);
}

template <class T>
static inline cudaError_t cudaMallocHost(T **pointer, size_t bytes)
{
    return cudaMallocHost((void **)(void *)pointer, bytes);
}

template <class T>
static inline cudaError_t cudaHostAlloc(T **pointer, size_t bytes,
                                        unsigned flags)
{
    return cudaHostAlloc((void **)(void *)pointer, bytes, flags);
}

template <class T>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                                T *kernel)
{
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}

template <class T>
static inline cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol)
{
    return cuda_host_symbol(pointer, &symbol, sizeof symbol);
}
#endif

#endif
