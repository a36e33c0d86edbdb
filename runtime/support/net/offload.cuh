// Values that are stored in host memory until the backward pass.  A copy is two steps: one begins
// it on a separate stream, after all earlier work of the context's stream; the other makes that
// stream wait for it.  Copies run in the order in which they begin.
#pragma once
#include <cuda_runtime.h>
#include "interface.cuh"
#include "offload_types.cuh"

// COPY_STEP: announces that a call begins a copy of a tensor, or waits for one, as a step.
#ifndef COPY_STEP
#define COPY_STEP(step, name, tensor, call) (call)
#endif

// COPY: makes such a call and checks it; on failure the function returns.
#define COPY(step, call, tensor, ...)                                                       \
    do {                                                                                    \
        if (COPY_STEP(step, #call, tensor, call(c, step, tensor, __VA_ARGS__)))             \
            return c->error.status;                                                         \
    } while (0)

// begin_copy: event 0 marks the current end of the context's stream, `event` the end of the copy.
static int begin_copy(net_context *c, int step, void *to, const void *from, size_t bytes,
                      int event)
{
    const net_host &h = c->host;
    return net_check(c, cudaEventRecord(h.events[0], c->stream), step, "cudaEventRecord") ||
           net_check(c, cudaStreamWaitEvent(h.stream, h.events[0], 0), step,
                     "cudaStreamWaitEvent") ||
           net_check(c, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, h.stream), step,
                     "cudaMemcpyAsync") ||
           net_check(c, cudaEventRecord(h.events[event], h.stream), step, "cudaEventRecord");
}

// copy_out: begins to copy a tensor to its place in host memory.
static int copy_out(net_context *c, int step, const void *tensor, size_t place, size_t bytes,
                    int event)
{
    return begin_copy(c, step, (unsigned char *)c->host.memory + place, tensor, bytes, event);
}

// copy_in: begins to copy a tensor back.
static int copy_in(net_context *c, int step, void *tensor, size_t place, size_t bytes, int event)
{
    return begin_copy(c, step, tensor, (unsigned char *)c->host.memory + place, bytes, event);
}

// await_copy: makes later work of the stream wait for the copy.
static int await_copy(net_context *c, int step, const void *tensor, int event)
{
    (void)tensor; // the copied tensor, for the host runtime
    return net_check(c, cudaStreamWaitEvent(c->stream, c->host.events[event], 0), step,
                     "cudaStreamWaitEvent");
}

// Checks memory, stream and events of the caller.
static int net_check_host(net_context *c, const net_host *host, struct CUstream_st *stream)
{
    bool there = host && host->memory && host->stream && host->stream != stream;
    for (int i = 0; there && i < NET_HOST_EVENTS; i++) there = host->events[i] != 0;
    if (there && host->bytes >= NET_HOST_BYTES)
        return net_find(c, NET_BAD_ARGUMENT, host->memory, host->bytes);
    return net_refuse(c, NET_BAD_ARGUMENT, "init or attach",
                      there ? "the host memory is too small"
                            : "host memory, its stream or an event is null, or streams are one",
                      NET_HOST_BYTES, there ? host->bytes : 0);
}

// Waits for copies under way after a failure, so that nothing else uses the arena before.
static int net_join_copies(net_context *c)
{
    TRY(net_check(c, cudaEventRecord(c->host.events[0], c->host.stream), -1, "cudaEventRecord"));
    return net_check(c, cudaStreamWaitEvent(c->stream, c->host.events[0], 0), -1,
                     "cudaStreamWaitEvent");
}

// Creates memory, stream and events at its first call; they live as long as the program.
static int net_make_host(net_context *c, net_host *host)
{
    if (host->memory) return NET_OK;
    cudaError_t error = cudaStreamCreateWithFlags(&host->stream, cudaStreamNonBlocking);
    for (int i = 0; i < NET_HOST_EVENTS && !error; i++)
        error = cudaEventCreateWithFlags(&host->events[i], cudaEventDisableTiming);
    if (!error) error = cudaMallocHost(&host->memory, NET_HOST_BYTES);
    host->bytes = NET_HOST_BYTES;
    return net_check(c, error, -1, "host memory, its stream and events");
}
