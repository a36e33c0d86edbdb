// Functions for tests, in addition to CUDA's interface: they make a call fail,
// forbid memory, and count resources in use.  Only this runtime has them.  C
// and C++ may include the header.
//
// Calls are those of the program to the CUDA runtime, cuBLAS or NCCL, launches
// included.  Calls that only ask for an error or its text do not count.
#ifndef CNNC_HOST_TESTING_H
#define CNNC_HOST_TESTING_H

#include <stddef.h>
#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// The call that was made to fail: its CUDA name, or the kernel as written in
// the launch; its step in the plan, or -1.
typedef struct cuda_host_failure {
    const char *call;
    int         step;
} cuda_host_failure;

// Makes call number `call` do nothing and fail, counted from 1 from now on; 0:
// no call.  An error that ruins the device persists, as a real one would.
// cuBLAS returns CUBLAS_STATUS_EXECUTION_FAILED for it, ALLOC_FAILED for
// cudaErrorMemoryAllocation, and INTERNAL_ERROR for others.  NCCL returns
// ncclSystemError for cudaErrorMemoryAllocation, and ncclUnhandledCudaError.
void cuda_host_fail(long call, cudaError_t error);

// Returns the calls since cuda_host_fail, or since the program began.
long cuda_host_calls(void);

// Returns the call that failed so, or NULL if none has.
const cuda_host_failure *cuda_host_failed(void);

// While forbidden, a call that allocates memory or creates a stream, an event,
// a handle or a graph prints a message and aborts the program.
void cuda_host_forbid_memory(int forbid);

// Returns the number of unreleased allocations, streams, events, handles and
// graphs of the program.
size_t cuda_host_in_use(void);

// True if the calling OS thread is inside this runtime, kernels included.  Heap
// memory that it allocates there does not belong to the program.
int cuda_host_inside(void);

#ifdef __cplusplus
}
#endif

#endif
