// A walk through the sets of nodes that may have run: node by node, onwards
// from the beginning of a region or backwards from its end, and back again.
#ifndef CNNC_READY_WALK_H
#define CNNC_READY_WALK_H

#include "order.h"

typedef struct Walk {
    Lives    l;                 // of the set that the walk stands at
    Region   region;
    bool     backward;          // nodes are taken back from the region's end
    int32_t *first;             // who waits for a node, in this direction
    Edge    *edges;
    int32_t *waits;             // for how many a node waits; never 0 for one
                                // that is settled
    // Nodes that are ready, in no order, and where in the list each is.
    NodeId  *ready;
    int32_t *slot;
    int32_t  ready_count;
    // Of each class, the nodes that could write over it and are not settled.
    int32_t *writers;
    int64_t  work;              // nodes taken and put back so far
} Walk;

// At the region's beginning or end; order has what ran before, and the region.
Walk walk_new(const Lives *start, const Dependences *d, Region region,
              bool backward, const NodeId *order);

// Returns the bytes that walk_take(w, i) returns, and sets *live to the bytes
// alive after it, but takes nothing.  It counts as taking i and putting it
// back.
int64_t walk_look(Walk *w, NodeId i, int64_t *live);
// Takes node i, which is ready; returns the bytes alive while it runs.
int64_t walk_take(Walk *w, NodeId i);
// Puts back node i: those taken after it have been put back before.
void walk_put_back(Walk *w, NodeId i);

// Takes a node for good, out of reach of the walk from the other side too.
void walk_settle(Walk *w, Walk *other, NodeId i);
// Whether node i, which is settled, reads what another that is not settled
// could write over if it came last.
bool walk_reads_writable(const Walk *w, NodeId i);

#endif
