// Maps in host memory: a training step's copies there and back, as nodes of
// operators that have the flag COPIES.
#ifndef CNNC_OFFLOAD_H
#define CNNC_OFFLOAD_H

#include "../ir.h"

// The kernels of such an operator, and what it keeps of them.
enum CopyPart { COPY_OUT, COPY_OUT_WAIT, COPY_IN, COPY_IN_WAIT };
enum CopyAttr {
    COPY_PLACE,                 // of a copy: bytes from the start of the host
                                // memory
    COPY_EVENT,                 // which of the caller's events says that it is
                                // done; 0 says that a copy may begin
};
enum { MOST_EVENTS = 1 << 20 };

// Whether n begins a copy or waits for one.
bool is_copy(const Node *n);
// Whether it begins one.
bool begins_copy(const Node *n);
// The value that it copies, or waits for.
ValueId copied_by(const Node *n);

// What a training step's copies need and cost, in the model of g's GPU: copies
// come one after the other, each when its launches before are done, and a wait
// lasts until its copy is done.
typedef struct HostUse {
    int32_t values;             // that go to host memory and come back
    int64_t moved;              // their bytes: so many go there
    int64_t bytes;              // of host memory that they need
    int32_t events;             // that are used; 0: there are no copies
    int64_t copying, waiting;   // picoseconds
} HostUse;
HostUse host_use(const Graph *g);

// verify_offload.c: of nodes in the order that they run in, that every copy
// that is begun is waited for once, that nothing reads what has yet to come
// back, and that what comes back is what went.  Returns NULL, or what is wrong,
// in arena.
const char *check_copies(Arena *arena, const Graph *g,
                         const Node *const *nodes, int32_t count);

#endif
