// Calls that are captured once and launched from then on.
#pragma once
#include <stdio.h>
#include "interface.cuh"

// net_graphs: graphs of a call, one for each buffer that its batches come in.
struct net_graphs {
    const void *buffer[2];
    cudaGraphExec_t exec[2];
    int count;
    bool none;                  // none can be made
};

// net_capture: a graph of what call does; nothing runs.  False: none can be made, and why.  A call
// that fails here may do so for the capture alone: the next one, without, will tell.
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
        // Else the first launch would take the driver's memory for it.
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

// net_prepare: makes the graph of a call with a whole batch in this buffer, whose memory is pinned;
// at most two.  Where none can be made that is no failure.
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

// net_replay: what call does, in one launch where there is a graph of it.
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
