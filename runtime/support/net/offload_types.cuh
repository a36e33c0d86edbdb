// Types of the C interface of a net that offloads, in C99, for the emitted header.
#pragma once
#include "interface_types.cuh"

struct CUevent_st;                      // cudaEvent_t points to it

// Resources for copies of values to host memory and back.  The caller creates them before init or
// attach, and frees them when no call is running; each context needs its own.  On one GPU:
//   memory   cudaMallocHost(&memory, HOST_BYTES), or cudaHostAlloc: pinned
//   stream   cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), not the context's
//   events   each cudaEventCreateWithFlags(&event, cudaEventDisableTiming)
typedef struct net_host {
    void *memory;
    size_t bytes;                       // at least HOST_BYTES
    struct CUstream_st *stream;
    struct CUevent_st *events[NET_HOST_EVENTS];
} net_host;
