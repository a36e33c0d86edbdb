// What the C interface of a net that offloads has beside the others'; this text is C99 and stands
// in the emitted header.
#pragma once
#include "interface_types.cuh"

struct CUevent_st;                      // what cudaEvent_t points to

// What copies maps to host memory and back. All of it is the caller's, who makes it before init
// or attach and gives it up when nothing runs any more; a context needs its own. On one GPU:
//   memory   cudaMallocHost(&memory, HOST_BYTES), or cudaHostAlloc: pinned
//   stream   cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), another than the context's
//   events   each cudaEventCreateWithFlags(&event, cudaEventDisableTiming)
typedef struct net_host {
    void *memory;
    size_t bytes;                       // of it: HOST_BYTES or more
    struct CUstream_st *stream;
    struct CUevent_st *events[NET_HOST_EVENTS];
} net_host;
