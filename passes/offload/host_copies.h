// Maps that are in host memory from the forward pass to the backward: which,
// and when they go and come back.
//
//   forward a, b, c; backward c, b, a
// becomes, where a's result is to be in host memory,
//   forward a, b; a out; forward c; a is out; backward c; a in; backward b;
//   a is in; backward a
#ifndef CNNC_HOST_COPIES_H
#define CNNC_HOST_COPIES_H

#include "../../ir/gpu/offload.h"
#include "../../ir/op/op.h"

// The values, and how many bytes may be alive, without what is persistent,
// where copies are given time: a buffer that is copied from has its bytes for
// as long as the copy takes, as far as there is room, and so has one that is
// copied to.
typedef struct Offloading {
    int32_t  count;
    ValueId *value;             // ascending
    int64_t  level;
} Offloading;

// A step of a copy, in front of launch `before`.
typedef struct HostCopy {
    int32_t before;
    uint8_t part;               // enum CopyPart
    ValueId value;
    int64_t place, event;
} HostCopy;

// remat_apply.c: puts these, in their order, into g, whose launches stay in
// theirs.  They are sorted by `before`.
void put_copies(Graph *g, const HostCopy *copy, int32_t count);

// ---- host_model.c -----------------------------------------------------------

// A value whose bytes no launch touches between two: the last of the forward
// pass, and the first behind it, which reads it.
typedef struct Stay {
    ValueId value;
    int64_t bytes;              // padded
    int64_t time;               // of a copy of it: picoseconds
    int32_t from, to;           // these launches
    int32_t gone, due;          // since host_layout, if it is offloaded: in
                                // front of which launch it is known to be out,
                                // and in front of which its way back begins
    bool    offloaded;
} Stay;

typedef struct HostModel {
    Arena   *arena;
    int32_t  launch_count, stay_count;
    int64_t *live;              // bytes alive at each launch, nothing
                                // offloaded, without what is persistent
    int64_t *time;              // when each begins, and when the last ends
    Stay    *stay;              // by value
    int64_t *alive;             // since host_layout: with what is offloaded
    int32_t *by_start, *by_end; // the numbers of all stays, by the first of
                                // these launches up, and by the other down
    int32_t *order;             // room for the numbers of all stays
} HostModel;

// Of a graph through liveness and share_buffers (or what stands in for that);
// it lies in g's arena.  What may stay in host memory is what the forward pass
// makes and no slice is taken of.
HostModel host_model(Graph *g);
// Offloads what the offloading names, and lays it out.
void host_offload(HostModel *m, const Offloading *offloading);
// When what is offloaded goes and comes back, with waits as late as they need
// be where `level` has room for that.  Returns the most bytes alive then.
int64_t host_layout(HostModel *m, int64_t level);
// Offloads of what stays as much as is needed for at most `level` bytes alive:
// what saves most bytes above the level for the time of its copies, one after
// the other, and then drops what turns out not to be needed.  False: it can't.
bool host_choose(HostModel *m, int64_t level);

// ---- host_copies.c ----------------------------------------------------------

// The steps of what is offloaded in a model that was laid out, with places in
// host memory and events; *copy in its arena.  Returns how many.
int32_t host_steps(const HostModel *m, HostCopy **copy);

#endif
