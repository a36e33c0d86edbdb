// Captures and graphs.  A capture collects the work given to its streams, with
// the arguments.  A launch of the graph does that work in the same order.
#include <set>
#include "stream.h"

struct CUgraphExec_st {
    std::vector<WorkRef> work;
    bool uploaded;
};

namespace {

// Graphs and executables that the program has created and not destroyed.
std::set<const void *> &graphs = lasting<std::set<const void *>>();

template <class T>
cudaError_t destroy(T *graph)
{
    StreamHold hold(stream_lock);
    if (!graphs.erase(graph)) return finish(cudaErrorInvalidValue);
    delete graph;
    give_resource();
    return finish(cudaSuccess);
}

// True if the capture is valid and the stream that began it has waited for all
// other streams that took part.
cudaError_t end_capture(const std::shared_ptr<CUgraph_st> &capture)
{
    std::vector<StreamRef> streams = std::move(capture->streams);
    bool valid = true, joined = true;
    capture->streams.clear();
    captures--;
    for (const auto &given : capture->given) {
        auto seen = streams[0]->before.find(given.first);
        joined &= seen != streams[0]->before.end() &&
                  seen->second == given.second;
    }
    for (const StreamRef &stream : streams) {
        valid &= stream->valid;
        stream->capture = nullptr;
    }
    return !valid ? cudaErrorStreamCaptureInvalidated
           : !joined ? cudaErrorStreamCaptureUnjoined : cudaSuccess;
}

bool is_graph(const void *graph)
{
    StreamHold hold(stream_lock);
    return graphs.count(graph) != 0;
}

}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle,
                                   cudaStreamCaptureMode mode)
{
    Call call("cudaStreamBeginCapture");
    if (call.error) return call.error;
    StreamHold hold(stream_lock);
    StreamRef stream = find_stream(handle);
    if (!stream) return finish(cudaErrorInvalidResourceHandle);
    if ((uintptr_t)handle <= 2)
        return finish(cudaErrorStreamCaptureUnsupported);
    if (mode < cudaStreamCaptureModeGlobal ||
        mode > cudaStreamCaptureModeRelaxed)
        return finish(cudaErrorInvalidValue);
    if (stream->capture) return finish(cudaErrorIllegalState);
    if (finish(cudaSuccess)) return finish(cudaSuccess);
    join_capture(stream, std::make_shared<CUgraph_st>());
    stream->mode = mode;
    stream->thread = std::this_thread::get_id();
    captures++;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph)
{
    Call call("cudaStreamEndCapture");
    if (call.error) return call.error;
    StreamHold hold(stream_lock);
    StreamRef stream = find_stream(handle);
    if (!stream) return finish(cudaErrorInvalidResourceHandle);
    if (!graph) return finish(cudaErrorInvalidValue);
    *graph = nullptr;
    if (!stream->capture) return finish(cudaErrorIllegalState);
    if (stream->mode != cudaStreamCaptureModeRelaxed &&
        stream->thread != std::this_thread::get_id())
        return finish(cudaErrorStreamCaptureWrongThread);
    std::shared_ptr<CUgraph_st> captured = stream->capture;
    if (captured->streams[0] != stream)
        return finish(cudaErrorStreamCaptureUnmatched);
    cudaError_t error = end_capture(captured);
    if (error) return finish(error);
    take_resource("cudaStreamEndCapture");
    *graph = new CUgraph_st(*captured);
    graphs.insert(*graph);
    return finish(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                  cudaStreamCaptureStatus *status)
{
    Call call("cudaStreamIsCapturing");
    if (call.error) return call.error;
    if (!status) return finish(cudaErrorInvalidValue);
    StreamHold hold(stream_lock);
    StreamRef stream = find_stream(handle);
    if (!stream) return finish(cudaErrorInvalidResourceHandle);
    *status = !stream->capture ? cudaStreamCaptureStatusNone
              : stream->valid  ? cudaStreamCaptureStatusActive
                               : cudaStreamCaptureStatusInvalidated;
    return finish(cudaSuccess);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable,
                                          cudaGraph_t graph, unsigned long long)
{
    Call call("cudaGraphInstantiate");
    if (call.error) return call.error;
    if (!executable || !is_graph(graph)) return finish(cudaErrorInvalidValue);
    take_resource("cudaGraphInstantiate");
    StreamHold hold(stream_lock);
    *executable = new CUgraphExec_st{graph->work, false};
    graphs.insert(*executable);
    return finish(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(executable, graph, flags);
}

// Uploads the executable to the device, for which a driver allocates memory.
static void upload(cudaGraphExec_t executable, const char *by)
{
    if (executable->uploaded) return;
    take_resource(by);
    give_resource();
    executable->uploaded = true;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream)
{
    Call call("cudaGraphUpload");
    if (call.error) return call.error;
    if (!is_graph(executable)) return finish(cudaErrorInvalidValue);
    if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
    upload(executable, "cudaGraphUpload");
    return finish(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    Call call("cudaGraphLaunch");
    if (call.error) return call.error;
    if (!is_graph(executable)) return finish(cudaErrorInvalidValue);
    if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
    note_step(0);
    upload(executable, "cudaGraphLaunch, which was not uploaded");
    for (const WorkRef &work : executable->work) {
        if (cudaError_t error = finish(cudaSuccess)) return error;
        cudaError_t error =
            works_at_once(stream) ? (*work)() : put_work(stream, work);
        if (error) return finish(error);
    }
    return finish(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    Call call("cudaGraphExecDestroy");
    if (call.error) return call.error;
    return destroy(executable);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    Call call("cudaGraphDestroy");
    if (call.error) return call.error;
    return destroy(graph);
}
