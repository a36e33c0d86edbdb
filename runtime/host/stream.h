// Streams, for stream.cpp, event.cpp and graph.cpp only.
//
// A stream counts the items it was given and those that are done.  An item may
// depend on places in other streams.  An item of the legacy stream follows all
// earlier items of blocking streams, and vice versa.  So a valid order always
// exists, and finishing one stream does only the necessary work of others.
#ifndef CNNC_HOST_STREAM_H
#define CNNC_HOST_STREAM_H

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <time.h>
#include <vector>
#include "host.h"

typedef std::shared_ptr<CUstream_st> StreamRef;

struct StreamPlace {
    StreamRef stream;
    uint64_t  given;            // items of the stream before the place
};

struct Item {
    WorkRef            work;    // null: the item only waits
    std::vector<StreamPlace> after;
};

// By captured stream: the number of its items that precede something.
typedef std::map<const CUstream_st *, uint64_t> Before;

// A capture and the resulting graph: the work of all its streams in the order
// of the calls, which respects all dependencies.
struct CUgraph_st {
    std::vector<WorkRef>   work;
    std::vector<StreamRef> streams; // participants; the first began the capture
    Before                 given;   // items given so far
};

struct CUstream_st {
    unsigned         flags;
    std::deque<Item> items;     // the given - done pending items
    uint64_t         given, done;
    // Valid while the stream captures: its work is appended there.
    std::shared_ptr<CUgraph_st> capture;
    bool                        valid;
    Before                      before; // items before its next item
    cudaStreamCaptureMode       mode;
    std::thread::id             thread; // the thread that began it
};

struct CUevent_st {
    bool                      timed, recorded, captured;
    timespec                  when;
    StreamPlace               place;    // where it was recorded
    std::weak_ptr<CUgraph_st> capture;  // the capture of its last record
    Before                    before;   // items of the capture before it
};

// Guards all streams and events.  It is held while a stream's work runs, so
// only one item of deferred work runs at a time.
extern std::recursive_mutex stream_lock;
typedef std::lock_guard<std::recursive_mutex> StreamHold;

// find_stream returns the stream of a handle, or null; captures is the number
// of streams that capture.
StreamRef find_stream(cudaStream_t stream);
extern std::atomic<int> captures;

// Does a stream's work up to the place, and all work that must precede it, with
// device memory open.  Returns the error of that work, or the device's.
cudaError_t reach(const StreamPlace &place);

// Does one more item towards the place, so that polling terminates.  Returns
// cudaErrorNotReady while items are left.
cudaError_t poll(const StreamPlace &place);

// join_capture adds a stream that does not capture to a capture.  come_after
// orders the next items of a capturing stream after these.
void join_capture(const StreamRef &stream,
                  const std::shared_ptr<CUgraph_st> &capture);
void come_after(const StreamRef &stream, const Before &before);

// Appends to a stream that does not capture, after the items that the legacy
// stream's rule puts before it.
void append_item(const StreamRef &stream, Item item);

#endif
