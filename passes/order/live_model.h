// The bytes alive while launches run in some order: the model that schedule
// minimises.  It counts like liveness, share_buffers and assign_offsets after
// it, so an order's peak is the plan's lower bound, without persistent bytes.
#ifndef CNNC_LIVE_MODEL_H
#define CNNC_LIVE_MODEL_H

#include "../../ir/op/op.h"

// A result of a node that may overwrite a class without later readers.
typedef struct Over {
    int32_t result;             // its slot
    ValueId class;
} Over;

// A value, its views and its slices form a class, named by the value that has
// the bytes.
typedef struct Lives {
    Graph    *g;
    ValueId  *class_of;         // of each value
    int64_t  *bytes;            // of each class, padded; 0: it has none
    bool     *kept;             // it never dies
    int32_t  *readers;          // launches that read it and have not run yet
    int32_t  *reader_count;     // all launches that read it
    int32_t  *made;             // launches that have made a part of it
    // The classes that launch i reads, each once: read[reads[i]] to before
    // read[reads[i + 1]]; the classes that it may overwrite, likewise, by
    // result.
    int32_t  *reads, *overs;
    ValueId  *read;
    Over     *over;
    int64_t   live;             // live bytes
    bool      sliced;           // slices exist: they count as whole where
                                // share_buffers may overwrite a dead part
} Lives;

// True if result r of n, element by element, fits into the bytes of its operand
// v, and its kernel allows overwriting.  Aliases of v are not checked.
bool fits_over(const Graph *g, const Node *n, int r, ValueId v);

// Returns the state before any node of g has run: inputs are alive.  Persistent
// values never count, since they are the same in every order.
Lives lives_new(Graph *g);
// Returns an independent copy.
Lives lives_copy(const Lives *l);

// Returns the bytes alive while node i runs, if it is next.
int64_t lives_within(const Lives *l, NodeId i);
// Returns the bytes alive after node i, if it is next; before node i, if it ran
// last.  *within: the bytes alive while it ran.
int64_t lives_after(const Lives *l, NodeId i);
int64_t lives_before(const Lives *l, NodeId i, int64_t *within);
// Runs node i, whose operands exist; undoes that, if no launch has read its
// results.
void lives_run(Lives *l, NodeId i);
void lives_take_back(Lives *l, NodeId i);

// Returns the peak of live bytes if all nodes run in this order.
int64_t lives_peak(const Lives *start, const NodeId *order);

#endif
