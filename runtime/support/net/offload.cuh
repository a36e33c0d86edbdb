// Maps that wait in host memory for the backward pass.  A copy is two steps: one begins it on a
// stream of its own, behind all that the context's stream has been given; the other makes that
// stream wait until it is done.  Copies are done in the order that they begin in.
#pragma once
#include <cuda_runtime.h>
#include "interface.cuh"
#include "offload_types.cuh"

// COPY_STEP: announces that a call begins a copy of a tensor, or waits for one, as a step.
#ifndef COPY_STEP
#define COPY_STEP(step, name, tensor, call) (call)
#endif

// COPY: such a call, which is checked; on failure the function returns.
#define COPY(step, call, tensor, ...)                                                       \
    do {                                                                                    \
        if (COPY_STEP(step, #call, tensor, call(c, step, tensor, __VA_ARGS__)))             \
            return c->error.status;                                                         \
    } while (0)

// begin_copy: event 0 says that the stream has come so far, the copy's own that it is done.
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

// copy_in: begins to copy it back.
static int copy_in(net_context *c, int step, void *tensor, size_t place, size_t bytes, int event)
{
    return begin_copy(c, step, tensor, (unsigned char *)c->host.memory + place, bytes, event);
}

// await_copy: what the stream is given from here on comes after the copy.
static int await_copy(net_context *c, int step, const void *tensor, int event)
{
    (void)tensor; // which the copy is of
    return net_check(c, cudaStreamWaitEvent(c->stream, c->host.events[event], 0), step,
                     "cudaStreamWaitEvent");
}

// That there is all that copies need.
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

// After a failure copies may still be under way: nothing goes to the arena before they are done.
static int net_join_copies(net_context *c)
{
    TRY(net_check(c, cudaEventRecord(c->host.events[0], c->host.stream), -1, "cudaEventRecord"));
    return net_check(c, cudaStreamWaitEvent(c->stream, c->host.events[0], 0), -1,
                     "cudaStreamWaitEvent");
}

// All that copies need, once, for as long as the program runs.
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
