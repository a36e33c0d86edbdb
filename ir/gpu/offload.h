// Offloading: the copies of a training step's maps to host memory and back, as
// nodes of operators with the flag COPIES.
#ifndef CNNC_OFFLOAD_H
#define CNNC_OFFLOAD_H

#include "../ir.h"

// The parts and attributes of such an operator.
enum CopyPart { COPY_OUT, COPY_OUT_WAIT, COPY_IN, COPY_IN_WAIT };
enum CopyAttr {
    COPY_PLACE,                 // of a copy: its offset in host memory, in
                                // bytes
    COPY_EVENT,                 // the caller's event recorded when it is done;
                                // event 0 is recorded when a copy may begin
};
enum { MOST_EVENTS = 1 << 20 };

// True if n begins a copy or waits for one.
bool is_copy(const Node *n);
// True if n begins a copy.
bool begins_copy(const Node *n);
// Returns the value that n copies, or waits for.
ValueId copied_by(const Node *n);

// The needs and costs of a training step's copies, in the model of g's GPU.
// Copies run in sequence, each after the launches before it; a wait lasts until
// its copy is done.
typedef struct HostUse {
    int32_t values;             // offloaded and fetched
    int64_t moved;              // their bytes
    int64_t bytes;              // of host memory needed
    int32_t events;             // events used; 0: no copies
    int64_t copying, waiting;   // picoseconds
} HostUse;
HostUse host_use(const Graph *g);

// verify_offload.c: checks nodes in launch order.  Every copy is waited for
// once, no value is read before its fetch is done, and a fetched value is the
// one that was offloaded.  Returns NULL, or the fault, in arena.
const char *check_copies(Arena *arena, const Graph *g,
                         const Node *const *nodes, int32_t count);

#endif
