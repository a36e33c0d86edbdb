// A walk through sets of nodes that have run, node by node, with undo.  It
// leads forward from the start of a region or backward from its end.
#ifndef CNNC_READY_WALK_H
#define CNNC_READY_WALK_H

#include "order.h"

typedef struct Walk {
    Lives    l;                 // of the walk's current set
    Region   region;
    bool     backward;          // nodes are undone from the region's end
    int32_t *first;             // nodes that wait for a node, in this direction
    Edge    *edges;
    int32_t *waits;             // number of nodes that a node waits for; never
                                // 0 for a settled one
    // Ready nodes, unordered, and each one's index in the list.
    NodeId  *ready;
    int32_t *slot;
    int32_t  ready_count;
    // By class: unsettled nodes that could overwrite it.
    int32_t *writers;
    int64_t  work;              // nodes taken and put back so far
} Walk;

// Returns a walk at the region's start or end; order has the nodes before it
// and the region.
Walk walk_new(const Lives *start, const Dependences *d, Region region,
              bool backward, const NodeId *order);

// Returns the bytes that walk_take(w, i) would return, and sets *live to the
// bytes alive after it.  Changes nothing, but counts as taking i and putting it
// back.
int64_t walk_look(Walk *w, NodeId i, int64_t *live);
// Takes node i, which is ready; returns the bytes alive while it runs.
int64_t walk_take(Walk *w, NodeId i);
// Puts back node i; the nodes taken after it must have been put back.
void walk_put_back(Walk *w, NodeId i);

// Takes a node for good, in the walk from the other side too.
void walk_settle(Walk *w, Walk *other, NodeId i);
// True if settled node i reads a class that an unsettled node could overwrite
// if it came last.
bool walk_reads_writable(const Walk *w, NodeId i);

#endif
