// Streams.  By default a stream is empty, since all its work is done before a
// call returns.
//
// With CNNC_HOST_DEFER=1 a stream keeps its work for later.  The work is done
// when a call waits for the stream, a later event, the device, or a copy that
// needs it.  No work is done before it must be.  So a program that forgets to
// wait finds stale bytes.
#include <algorithm>
#include <map>
#include <stdio.h>
#include <stdlib.h>
#include "stream.h"

std::recursive_mutex stream_lock;
std::atomic<int> captures(0);

namespace {

struct Streams {
    StreamRef legacy = std::make_shared<CUstream_st>();
    std::map<cudaStream_t, StreamRef> live;
};

Streams &streams()
{
    static Streams &all = lasting<Streams>();
    return all;
}

bool is_blocking(const StreamRef &stream)
{
    return !(stream->flags & cudaStreamNonBlocking);
}

void drop_work(CUstream_st *stream)
{
    stream->items.clear();
    stream->done = stream->given;
}

void drop_all_work()
{
    drop_work(streams().legacy.get());
    for (auto &live : streams().live) drop_work(live.second.get());
}

// Does the stream's work up to item `given`, and before each item its
// dependencies.  Returns the first error, after which no work is left.
cudaError_t work_off(CUstream_st *stream, uint64_t given)
{
    cudaError_t first = cudaSuccess;
    while (stream->done < given) {
        Item item = std::move(stream->items.front());
        stream->items.pop_front();
        stream->done++;
        for (const StreamPlace &place : item.after)
            if (!first) first = work_off(place.stream.get(), place.given);
        if (first || !item.work || finish(cudaSuccess)) continue;
        if ((first = (*item.work)())) {
            fail(first);
            drop_all_work();
        }
    }
    return first;
}

// True if the legacy stream would depend on captured work of blocking streams.
bool touches_capture(const StreamRef &stream)
{
    bool touched = false;
    if (stream != streams().legacy || !captures) return false;
    for (auto &live : streams().live)
        if (live.second->capture && is_blocking(live.second)) {
            live.second->valid = false;
            touched = true;
        }
    return touched;
}

}

cudaError_t reach(const StreamPlace &place)
{
    cudaError_t error = cudaSuccess;
    if (place.stream && place.stream->done < place.given) {
        open_device_memory(true);
        error = work_off(place.stream.get(), place.given);
        open_device_memory(false);
    }
    return finish(error);
}

cudaError_t poll(const StreamPlace &place)
{
    if (!place.stream || place.stream->done >= place.given)
        return finish(cudaSuccess);
    cudaError_t error = reach({place.stream, place.stream->done + 1});
    if (error) return error;
    return place.stream->done < place.given ? cudaErrorNotReady : cudaSuccess;
}

void append_item(const StreamRef &stream, Item item)
{
    const StreamRef &legacy = streams().legacy;
    if (stream == legacy) {
        for (auto &live : streams().live)
            if (is_blocking(live.second))
                item.after.push_back({live.second, live.second->given});
    } else if (is_blocking(stream)) {
        item.after.push_back({legacy, legacy->given});
    }
    stream->items.push_back(std::move(item));
    stream->given++;
}

void join_capture(const StreamRef &stream,
                  const std::shared_ptr<CUgraph_st> &capture)
{
    if (!capture->streams.empty()) {
        stream->mode = capture->streams[0]->mode;
        stream->thread = capture->streams[0]->thread;
    }
    stream->capture = capture;
    stream->valid = true;
    stream->before.clear();
    capture->streams.push_back(stream);
}

void come_after(const StreamRef &stream, const Before &before)
{
    for (const auto &given : before)
        stream->before[given.first] =
            std::max(stream->before[given.first], given.second);
}

bool is_deferring()
{
    static const bool deferring = is_asked("CNNC_HOST_DEFER");
    return deferring;
}

// The null stream and the two special handles all name the legacy stream.
StreamRef find_stream(cudaStream_t stream)
{
    if ((uintptr_t)stream <= 2) return streams().legacy;
    auto found = streams().live.find(stream);
    return found == streams().live.end() ? nullptr : found->second;
}

bool is_stream(cudaStream_t stream)
{
    if ((uintptr_t)stream <= 2) return true;
    StreamHold hold(stream_lock);
    return find_stream(stream) != nullptr;
}

bool works_at_once(cudaStream_t)
{
    return !is_deferring() && captures == 0;
}

cudaError_t put_work(cudaStream_t handle, WorkRef work)
{
    StreamHold hold(stream_lock);
    StreamRef stream = find_stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (stream->capture) {
        if (!stream->valid) return cudaErrorStreamCaptureInvalidated;
        stream->capture->work.push_back(work);
        stream->before[handle] = ++stream->capture->given[handle];
        return cudaSuccess;
    }
    if (touches_capture(stream)) return cudaErrorStreamCaptureImplicit;
    if (!is_deferring()) return (*work)();
    append_item(stream, {work, {}});
    return cudaSuccess;
}

cudaError_t finish_stream(cudaStream_t handle)
{
    StreamHold hold(stream_lock);
    StreamRef stream = find_stream(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    return reach({stream, stream->given});
}

cudaError_t finish_streams()
{
    if (!is_deferring()) return finish(cudaSuccess);
    StreamHold hold(stream_lock);
    cudaError_t error = reach({streams().legacy, streams().legacy->given});
    for (auto &live : streams().live)
        if (!error) error = reach({live.second, live.second->given});
    return error;
}

void forget_streams()
{
    StreamHold hold(stream_lock);
    drop_all_work();
    for (auto &live : streams().live) {
        if (live.second->capture) live.second->capture->streams.clear();
        live.second->capture = nullptr;
    }
    captures = 0;
}

cudaError_t check_capture()
{
    if (captures == 0) return cudaSuccess;
    StreamHold hold(stream_lock);
    bool forbidden = false;
    for (auto &live : streams().live) {
        CUstream_st &s = *live.second;
        if (s.capture && (s.mode == cudaStreamCaptureModeGlobal ||
                          (s.mode == cudaStreamCaptureModeThreadLocal &&
                           s.thread == std::this_thread::get_id()))) {
            s.valid = false;
            forbidden = true;
        }
    }
    return forbidden ? fail(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

bool is_capturing(cudaStream_t handle)
{
    if (captures == 0) return false;
    StreamHold hold(stream_lock);
    StreamRef stream = find_stream(handle);
    return stream && stream->capture;
}

bool spoil_capture(cudaStream_t handle)
{
    if (!is_capturing(handle)) return false;
    StreamHold hold(stream_lock);
    find_stream(handle)->valid = false;
    return true;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    Call call("cudaStreamCreate");
    if (call.error) return call.error;
    if (!stream || flags > cudaStreamNonBlocking)
        return finish(cudaErrorInvalidValue);
    take_resource("cudaStreamCreate");
    StreamHold hold(stream_lock);
    StreamRef made = std::make_shared<CUstream_st>();
    made->flags = flags;
    *stream = made.get();
    streams().live[*stream] = made;
    return finish(cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    Call call("cudaStreamDestroy");
    if (call.error) return call.error;
    StreamHold hold(stream_lock);
    auto found = streams().live.find(stream);
    if (found == streams().live.end())
        return finish(cudaErrorInvalidResourceHandle);
    if (!found->second->capture) finish_stream(stream);
    else if (found->second->capture->streams[0] == found->second) captures--;
    streams().live.erase(stream);
    give_resource();
    return finish(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    Call call("cudaStreamSynchronize");
    if (call.error) return call.error;
    if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
    if (spoil_capture(stream)) return fail(cudaErrorStreamCaptureUnsupported);
    if (cudaError_t error = check_capture()) return error;
    return finish_stream(stream);
}

cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    Call call("cudaStreamQuery");
    if (call.error) return call.error;
    if (!is_stream(handle)) return finish(cudaErrorInvalidResourceHandle);
    if (spoil_capture(handle)) return fail(cudaErrorStreamCaptureUnsupported);
    StreamHold hold(stream_lock);
    StreamRef stream = find_stream(handle);
    return poll({stream, stream->given});
}
