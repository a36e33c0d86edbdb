// Replaces NCCL's nccl.h: collectives between processes, with NCCL's names,
// numbers and structs.  C and C++ may include it.
//
// Each process has one rank, since this runtime has one device.  A collective
// is work of its stream.  The ranks talk over TCP, on one machine or several.
#ifndef CNNC_HOST_NCCL_H
#define CNNC_HOST_NCCL_H

#include <limits.h>
#include <stdint.h>
#include "cuda_runtime.h"

// The version whose structs these are.
#define NCCL_MAJOR 2
#define NCCL_MINOR 32
#define NCCL_PATCH 3
#define NCCL_SUFFIX ""
#define NCCL_VERSION(x, y, z)                                                  \
    ((x) <= 2 && (y) <= 8 ? (x) * 1000 + (y) * 100 + (z)                       \
                          : (x) * 10000 + (y) * 100 + (z))
#define NCCL_VERSION_CODE NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclComm *ncclComm_t;
#define NCCL_COMM_NULL NULL

#define NCCL_UNIQUE_ID_BYTES 128
typedef struct { char internal[NCCL_UNIQUE_ID_BYTES]; } ncclUniqueId;

// The results, one row each: name, number, text.
#define NCCL_HOST_RESULTS(X)                                                   \
    X(ncclSuccess, 0, "no error")                                              \
    X(ncclUnhandledCudaError, 1, "unhandled cuda error")                       \
    X(ncclSystemError, 2, "unhandled system error")                            \
    X(ncclInternalError, 3, "internal error")                                  \
    X(ncclInvalidArgument, 4, "invalid argument")                              \
    X(ncclInvalidUsage, 5, "invalid usage")                                    \
    X(ncclRemoteError, 6, "remote process exited or there was a network error")\
    X(ncclInProgress, 7, "NCCL operation in progress")                         \
    X(ncclTimeout, 8, "operation timed out")

typedef enum {
#define NCCL_HOST_ENUM(name, number, text) name = number,
    NCCL_HOST_RESULTS(NCCL_HOST_ENUM)
#undef NCCL_HOST_ENUM
    ncclNumResults = 9
} ncclResult_t;

#define NCCL_CONFIG_UNDEF_INT INT_MIN
#define NCCL_CONFIG_UNDEF_PTR NULL
#define NCCL_API_MAGIC 0xcafebeef

// Settings of a communicator.  This runtime reads `blocking` alone: a call has
// ended when it returns, with 0 too, as NCCL permits.
typedef struct ncclConfig_v23100 {
    size_t       size;
    unsigned int magic, version;
    int          blocking, cgaClusterSize, minCTAs, maxCTAs;
    const char  *netName;
    int          splitShare, trafficClass;
    const char  *commName;
    int          collnetEnable, CTAPolicy, shrinkShare, nvlsCTAs;
    int          nChannelsPerNetPeer, nvlinkCentricSched, graphUsageMode;
    int          numRmaCtx, maxP2pPeers, graphStreamOrdering;
    int          launchOrderImplicit, numRmaSig, rmaEagerInit;
    int          hostCftMode, nvlsHostMode;
} ncclConfig_t;

#define NCCL_HOST_UNSET NCCL_CONFIG_UNDEF_INT
#define NCCL_CONFIG_INITIALIZER                                                \
    {sizeof(ncclConfig_t), NCCL_API_MAGIC, NCCL_VERSION_CODE,                  \
     NCCL_HOST_UNSET, NCCL_HOST_UNSET, NCCL_HOST_UNSET, NCCL_HOST_UNSET,       \
     NCCL_CONFIG_UNDEF_PTR, NCCL_HOST_UNSET, NCCL_HOST_UNSET,                  \
     NCCL_CONFIG_UNDEF_PTR, NCCL_HOST_UNSET, NCCL_HOST_UNSET, NCCL_HOST_UNSET, \
     NCCL_HOST_UNSET, NCCL_HOST_UNSET, NCCL_HOST_UNSET, NCCL_HOST_UNSET,       \
     NCCL_HOST_UNSET, NCCL_HOST_UNSET, NCCL_HOST_UNSET, NCCL_HOST_UNSET,       \
     NCCL_HOST_UNSET, NCCL_HOST_UNSET, NCCL_HOST_UNSET, NCCL_HOST_UNSET}

typedef enum {
    ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg, ncclNumOps,
    ncclMaxRedOp = 0x7fffffff
} ncclRedOp_t;

typedef enum {
    ncclInt8, ncclUint8, ncclInt32, ncclUint32, ncclInt64, ncclUint64,
    ncclFloat16, ncclFloat32, ncclFloat64, ncclBfloat16, ncclFloat8e4m3,
    ncclFloat8e5m2, ncclNumTypes,
    ncclChar = ncclInt8, ncclInt = ncclInt32, ncclHalf = ncclFloat16,
    ncclFloat = ncclFloat32, ncclDouble = ncclFloat64
} ncclDataType_t;

ncclResult_t ncclGetVersion(int *version);
const char *ncclGetErrorString(ncclResult_t result);
const char *ncclGetLastError(ncclComm_t comm);

// The id holds an address of this process, which must live until all ranks have
// joined and left.
ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id,
                              int rank);
ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks,
                                    ncclUniqueId id, int rank,
                                    ncclConfig_t *config);
ncclResult_t ncclCommFinalize(ncclComm_t handle);
ncclResult_t ncclCommDestroy(ncclComm_t handle);
ncclResult_t ncclCommAbort(ncclComm_t handle);
ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t *error);
ncclResult_t ncclCommCount(ncclComm_t comm, int *count);
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int *device);
ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank);

ncclResult_t ncclReduce(const void *send, void *receive, size_t count,
                        ncclDataType_t type, ncclRedOp_t operation, int root,
                        ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclBroadcast(const void *send, void *receive, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclAllReduce(const void *send, void *receive, size_t count,
                           ncclDataType_t type, ncclRedOp_t operation,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduceScatter(const void *send, void *receive, size_t count,
                               ncclDataType_t type, ncclRedOp_t operation,
                               ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllGather(const void *send, void *receive, size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);

#ifdef __cplusplus
}
#endif

#endif
