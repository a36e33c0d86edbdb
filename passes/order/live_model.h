// Which bytes are alive while launches run in some order: the model that
// schedule minimises.  It counts as liveness, share_buffers and assign_offsets
// do after it, so that the peak of an order is the bound that the plan will
// have, less what is persistent.
#ifndef CNNC_LIVE_MODEL_H
#define CNNC_LIVE_MODEL_H

#include "../../ir/op/op.h"

// A result of a node that may be written over a class once nobody else reads
// that.
typedef struct Over {
    int32_t result;             // its slot
    ValueId class;
} Over;

// A value, its views and its slices are one class, named by the value that has
// the bytes.
typedef struct Lives {
    Graph    *g;
    ValueId  *class_of;         // of each value
    int64_t  *bytes;            // of each class, padded; 0: of none of its own
    bool     *kept;             // whether it never dies
    int32_t  *readers;          // launches that read it and have not run
    int32_t  *reader_count;     // all that read it
    int32_t  *made;             // launches that made a part of it
    // The classes that launch i reads, each once: read[reads[i]] to before
    // read[reads[i + 1]]; and what it may write over, likewise, by result.
    int32_t  *reads, *overs;
    ValueId  *read;
    Over     *over;
    int64_t   live;             // bytes that are alive
    bool      sliced;           // some are slices: those are counted as whole
                                // where share_buffers may write over a part
                                // that died
} Lives;

// Whether result r of n has room in the bytes of v, which it reads, element by
// element, and its kernel allows that; what else lies in those bytes is not
// asked.
bool fits_over(const Graph *g, const Node *n, int r, ValueId v);

// Before any node of g has run: inputs are alive.  Persistent values never
// count, since they are the same in every order.
Lives lives_new(Graph *g);
// A copy that runs on its own.
Lives lives_copy(const Lives *l);

// The bytes alive while node i runs, where it is next.
int64_t lives_within(const Lives *l, NodeId i);
// The bytes alive after node i, where it is next; before it, where it ran last,
// with those alive while it ran.
int64_t lives_after(const Lives *l, NodeId i);
int64_t lives_before(const Lives *l, NodeId i, int64_t *within);
// Runs node i, whose operands are made; takes back that it ran, where nobody
// has read what it made.
void lives_run(Lives *l, NodeId i);
void lives_take_back(Lives *l, NodeId i);

// The largest sum alive at once if all nodes run in this order.
int64_t lives_peak(const Lives *start, const NodeId *order);

#endif
