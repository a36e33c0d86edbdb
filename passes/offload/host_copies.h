// Offloads maps to host memory between the forward and the backward pass: which
// maps, and when they are copied.
//
//   forward a, b, c; backward c, b, a
// becomes, if a's result is offloaded,
//   forward a, b; a out; forward c; a is out; backward c; a in; backward b;
//   a is in; backward a
#ifndef CNNC_HOST_COPIES_H
#define CNNC_HOST_COPIES_H

#include "../../ir/gpu/offload.h"
#include "../../ir/op/op.h"

// The offloaded values.  level: the limit of live bytes, without persistent
// ones, up to which copies are given time.  A buffer keeps its bytes while it
// is copied out or in, as far as there is room below the level.
typedef struct Offloading {
    int32_t  count;
    ValueId *value;             // ascending
    int64_t  level;
} Offloading;

// A step of a copy, before launch `before`.
typedef struct HostCopy {
    int32_t before;
    uint8_t part;               // enum CopyPart
    ValueId value;
    int64_t place, event;
} HostCopy;

// remat_apply.c: inserts these steps, in their order, into g, whose launches
// keep theirs.  The steps are sorted by `before`.
void put_copies(Graph *g, const HostCopy *copy, int32_t count);

// ---- host_model.c -----------------------------------------------------------

// A value that no launch touches between two launches.  They are the last
// launch of the forward pass that touches it and the first one after that,
// which reads it.
typedef struct Stay {
    ValueId value;
    int64_t bytes;              // padded
    int64_t time;               // of a copy of it: picoseconds
    int32_t from, to;           // these two launches
    int32_t gone, due;          // valid after host_layout, if offloaded: the
                                // launches before which the copy out is
                                // complete and the copy in begins
    bool    offloaded;
} Stay;

typedef struct HostModel {
    Arena   *arena;
    int32_t  launch_count, stay_count;
    int64_t *live;              // bytes alive at each launch without
                                // offloading, without persistent values
    int64_t *time;              // start of each launch, and the end of the last
    Stay    *stay;              // sorted by value
    int64_t *alive;             // valid after host_layout: live bytes with
                                // offloading
    int32_t *by_start, *by_end; // indices of all stays, by ascending `from` and
                                // by descending `to`
    int32_t *order;             // scratch for the indices of all stays
} HostModel;

// Returns the model of a graph after liveness and share_buffers (or an
// equivalent); it is stored in g's arena.  A value may be offloaded if the
// forward pass makes it and no slice aliases it.
HostModel host_model(Graph *g);
// Offloads the values that the offloading names and lays out their copies.
void host_offload(HostModel *m, const Offloading *offloading);
// Sets the times of all copies, with waits as late as necessary where `level`
// has room.  Returns the peak of live bytes.
int64_t host_layout(HostModel *m, int64_t level);
// Chooses values to offload until at most `level` bytes are alive.  Takes one
// after another, the one that saves the most bytes above the level per time of
// its copies; then drops values that turn out to be unnecessary.  False:
// impossible.
bool host_choose(HostModel *m, int64_t level);

// ---- host_copies.c ----------------------------------------------------------

// Makes the steps of the offloaded values of a model that was laid out, with
// places in host memory and events; *copy is in its arena.  Returns their
// number.
int32_t host_steps(const HostModel *m, HostCopy **copy);

#endif
