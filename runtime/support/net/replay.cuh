// Calls that are captured once as a CUDA graph, and launched from then on.
#pragma once
#include <stdio.h>
#include "interface.cuh"

// net_graphs: graphs of a call, one for each buffer of its batches.
struct net_graphs {
    const void *buffer[2];
    cudaGraphExec_t exec[2];
    int count;
    bool none;                  // a capture failed
};

// net_capture: captures the work of `call` without running it.  Returns false, with a message, if
// no graph can be made.  A call may fail only because of the capture, so its error is cleared.
static bool net_capture(net_context *c, const void *const *inputs, const size_t *bytes,
                        int (*call)(const void *const *inputs, const size_t *bytes),
                        cudaGraphExec_t *exec)
{
    cudaGraph_t graph = 0;
    const net_context before = *c;
    const char *why = 0;
    cudaError_t error = cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        if (call(inputs, bytes)) why = c->error.text ? c->error.text : "a call failed";
        error = cudaStreamEndCapture(c->stream, &graph);
    }
    if (error == cudaSuccess && !why) error = cudaGraphInstantiateWithFlags(exec, graph, 0);
    if (graph) cudaGraphDestroy(graph);
    if (error == cudaSuccess && !why) {
        // Otherwise the first launch would allocate the driver's memory for the graph.
        error = cudaGraphUpload(*exec, c->stream);
        if (error == cudaSuccess) return true;
        cudaGraphExecDestroy(*exec);
    }
    cudaGetLastError();
    *c = before;
    fprintf(stderr, "training steps are launched kernel by kernel: no graph can be made: %s\n",
            why ? why : cudaGetErrorString(error));
    return false;
}

// net_prepare: captures a call with a whole batch in this pinned buffer, for at most two buffers.
// It is no failure if no graph can be made.
static int net_prepare(net_context *c, net_graphs *graphs, const void *const *inputs,
                       const size_t *bytes,
                       int (*call)(const void *const *inputs, const size_t *bytes))
{
    const int k = graphs->count;
    if (graphs->none || k == 2) return 0;
    graphs->none = !net_capture(c, inputs, bytes, call, &graphs->exec[k]);
    if (!graphs->none) graphs->buffer[graphs->count++] = inputs[0];
    return c->error.status;
}

// net_replay: launches the graph of a whole batch in this buffer; without one it makes the call.
static int net_replay(net_context *c, const net_graphs *graphs, const void *const *inputs,
                      const size_t *bytes, size_t whole,
                      int (*call)(const void *const *inputs, const size_t *bytes))
{
    int k = 0;
    while (k < graphs->count && graphs->buffer[k] != inputs[0]) k++;
    if (bytes[0] != whole || k == graphs->count) return call(inputs, bytes);
    return net_check(c, cudaGraphLaunch(graphs->exec[k], c->stream), -1, "cudaGraphLaunch")
               ? c->error.status
               : 0;
}
