// Events: the time when a stream reached them and, if work is deferred, the
// place in the stream.  An event recorded in a capture has neither.
#include <map>
#include "stream.h"

namespace {

using Events = std::map<cudaEvent_t, std::shared_ptr<CUevent_st>>;
Events &events = lasting<Events>();

std::shared_ptr<CUevent_st> find_event(cudaEvent_t event)
{
    auto found = events.find(event);
    return found == events.end() ? nullptr : found->second;
}

// A stream that waits for an event of a capture joins that capture.
cudaError_t wait_in_capture(const StreamRef &stream,
                            const std::shared_ptr<CUevent_st> &event)
{
    std::shared_ptr<CUgraph_st> capture = event->capture.lock();
    bool is_over = !capture || capture->streams.empty();
    if (is_over || stream == find_stream(nullptr) ||
        (stream->capture && stream->capture != capture)) {
        if (stream->capture) stream->valid = false;
        report(is_over ? "a stream waits for an event of a capture that is over"
                       : "a stream waits for an event that it can't take part "
                         "in the capture of");
        return finish(is_over ? cudaErrorCapturedEvent
                              : cudaErrorStreamCaptureMerge);
    }
    if (!stream->capture) join_capture(stream, capture);
    come_after(stream, event->before);
    return finish(cudaSuccess);
}

// Returns the error of waiting for an event, or of querying it.
cudaError_t check_event(const std::shared_ptr<CUevent_st> &event)
{
    if (!event) return fail(cudaErrorInvalidResourceHandle);
    if (event->captured) return fail(cudaErrorCapturedEvent);
    return check_capture();
}

}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event,
                                unsigned)
{
    Call call("cudaStreamWaitEvent");
    if (call.error) return call.error;
    StreamHold hold(stream_lock);
    StreamRef stream = find_stream(handle);
    auto known = find_event(event);
    if (!stream || !known) return finish(cudaErrorInvalidResourceHandle);
    if (known->captured) return wait_in_capture(stream, known);
    if (stream->capture && known->recorded) {
        stream->valid = false;
        return finish(cudaErrorStreamCaptureIsolation);
    }
    if (known->place.stream) append_item(stream, {nullptr, {known->place}});
    return finish(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    Call call("cudaEventCreate");
    if (call.error) return call.error;
    if (!event) return finish(cudaErrorInvalidValue);
    take_resource("cudaEventCreate");
    StreamHold hold(stream_lock);
    auto made = std::make_shared<CUevent_st>();
    made->timed = !(flags & cudaEventDisableTiming);
    *event = made.get();
    events[*event] = made;
    return finish(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    Call call("cudaEventDestroy");
    if (call.error) return call.error;
    StreamHold hold(stream_lock);
    if (!events.erase(event))
        return finish(cudaErrorInvalidResourceHandle);
    give_resource();
    return finish(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle)
{
    Call call("cudaEventRecord");
    if (call.error) return call.error;
    StreamHold hold(stream_lock);
    StreamRef stream = find_stream(handle);
    auto known = find_event(event);
    if (!stream || !known) return finish(cudaErrorInvalidResourceHandle);
    if (stream->capture) {
        if (!stream->valid) return finish(cudaErrorStreamCaptureInvalidated);
        known->captured = true;
        known->recorded = false;
        known->capture = stream->capture;
        known->before = stream->before;
        known->place = {stream, 0};
        return finish(cudaSuccess);
    }
    cudaError_t error = give_work(handle, [known] {
        clock_gettime(CLOCK_MONOTONIC, &known->when);
        return cudaSuccess;
    });
    if (error) return finish(error);
    known->recorded = true;
    known->captured = false;
    known->place = {is_deferring() ? stream : nullptr, stream->given};
    return finish(cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    Call call("cudaEventSynchronize");
    if (call.error) return call.error;
    StreamHold hold(stream_lock);
    auto known = find_event(event);
    if (cudaError_t error = check_event(known)) return error;
    return reach(known->place);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    Call call("cudaEventQuery");
    if (call.error) return call.error;
    StreamHold hold(stream_lock);
    auto known = find_event(event);
    if (cudaError_t error = check_event(known)) return error;
    return poll(known->place);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start,
                                 cudaEvent_t end)
{
    Call call("cudaEventElapsedTime");
    if (call.error) return call.error;
    if (!milliseconds) return finish(cudaErrorInvalidValue);
    StreamHold hold(stream_lock);
    auto from = find_event(start), to = find_event(end);
    if (!from || !to || !from->timed || !to->timed || !from->recorded ||
        !to->recorded)
        return finish(cudaErrorInvalidResourceHandle);
    for (const auto &event : {from, to})
        if (event->place.stream &&
            event->place.stream->done < event->place.given)
            return cudaErrorNotReady;
    double seconds = (double)(to->when.tv_sec - from->when.tv_sec);
    double rest = (double)(to->when.tv_nsec - from->when.tv_nsec);
    *milliseconds = (float)(1e3 * seconds + 1e-6 * rest);
    return finish(cudaSuccess);
}
