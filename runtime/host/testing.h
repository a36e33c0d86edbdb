// For tests, beside CUDA's own interface: makes a call fail, forbids memory,
// tells what is in use.  Only this runtime has it.  C and C++ may include it.
//
// A call is one of the program's to the CUDA runtime or to cuBLAS, a launch
// included; not those that only ask for an error or its text.
#ifndef CNNC_HOST_TESTING_H
#define CNNC_HOST_TESTING_H

#include <stddef.h>
#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// The call that was made to fail: CUDA's name of it, or the kernel as the
// launch has it; its step in the plan, or -1.
typedef struct cuda_host_failure {
    const char *call;
    int         step;
} cuda_host_failure;

// Of the calls from here on, counted from 1, number `call` does nothing and
// fails; 0: none does.  An error that ruins the device stays, as a real one
// would; cuBLAS says CUBLAS_STATUS_EXECUTION_FAILED then, or ALLOC_FAILED for
// cudaErrorMemoryAllocation, else INTERNAL_ERROR.
void cuda_host_fail(long call, cudaError_t error);

// Calls since cuda_host_fail, or since the program began.
long cuda_host_calls(void);

// What failed so, or NULL as long as nothing has.
const cuda_host_failure *cuda_host_failed(void);

// While forbidden, a call that takes memory or makes a stream, an event, a
// handle or a graph says so on standard error and aborts the program.
void cuda_host_forbid_memory(int forbid);

// What the program has taken and not given back: allocations, streams, events,
// handles, graphs.
size_t cuda_host_in_use(void);

// Whether the calling OS thread is inside this runtime, kernels included: what
// it takes from the heap there is not the program's.
int cuda_host_inside(void);

#ifdef __cplusplus
}
#endif

#endif
