// Streams as stream.cpp, event.cpp and graph.cpp see them; nobody else does.
//
// A stream counts what it has been given and what of that is done; an item may
// have to come after a place in another stream.  The legacy stream's items come
// after all that blocking streams have been given before them, and the other
// way round; so an order that satisfies all always exists, and finishing one
// stream does no more of the others than it must.
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
    uint64_t  given;            // items of the stream that are there before it
};

struct Item {
    WorkRef            work;    // or none: the item only waits
    std::vector<StreamPlace> after;
};

// Of streams in a capture: how many items of each come before something.
typedef std::map<const CUstream_st *, uint64_t> Before;

// A capture, and what becomes of it: the work of all its streams in the order
// of the calls, in which nothing comes before what it waits for.
struct CUgraph_st {
    std::vector<WorkRef>   work;
    std::vector<StreamRef> streams; // that take part; the first began it
    Before                 given;   // so far
};

struct CUstream_st {
    unsigned         flags;
    std::deque<Item> items;     // given - done of them
    uint64_t         given, done;
    // While the stream captures; what it is given goes there.
    std::shared_ptr<CUgraph_st> capture;
    bool                        valid;
    Before                      before; // what is given next
    cudaStreamCaptureMode       mode;
    std::thread::id             thread; // that began it
};

struct CUevent_st {
    bool                      timed, recorded, captured;
    timespec                  when;
    StreamPlace               place;    // where it was recorded
    std::weak_ptr<CUgraph_st> capture;  // which it was last recorded in
    Before                    before;   // and what of that is before it
};

// Guards all of that.  Whoever does a stream's work holds it, so that one
// piece of deferred work runs at a time.
extern std::recursive_mutex stream_lock;
typedef std::lock_guard<std::recursive_mutex> StreamHold;

// The stream of a handle, or null; the number of streams that capture.
StreamRef find_stream(cudaStream_t stream);
extern std::atomic<int> captures;

// Does a stream's work up to the place, device memory open, and whatever must
// come before; the error is that of the device.
cudaError_t reach(const StreamPlace &place);

// Does one more item towards the place, so that who polls gets there in the
// end; cudaErrorNotReady as long as there is more.
cudaError_t poll(const StreamPlace &place);

// A stream that does not capture takes part in a capture from here on; and what
// is given next to one that does comes after these.
void join_capture(const StreamRef &stream,
                  const std::shared_ptr<CUgraph_st> &capture);
void come_after(const StreamRef &stream, const Before &before);

// Appends to a stream that does not capture, after what the legacy stream's
// rule puts before it.
void append_item(const StreamRef &stream, Item item);

#endif
