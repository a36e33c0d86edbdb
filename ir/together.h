// Launches of one kind, each over arrays of its own, as one: nodes that follow
// each other, each but the first `joined` to the one before.
//
//   [40] update a.sgd: sgd(a, d.a, -, header)
//   [41] update b.sgd: sgd(b, d.b, -, header) joined
//
// is one step of the plan, that touches what any of them touches.  They make
// nothing, but update; and they depend on each other in nothing, so that their
// blocks may run in any order.
#ifndef CNNC_TOGETHER_H
#define CNNC_TOGETHER_H

#include "verify.h"

// The node behind the last that is joined to node i.
NodeId group_end(const Graph *g, NodeId i);
// Whether a launch could take the arrays of both, but for their number: the
// same kernel, told the same otherwise.
bool are_alike(const Launch *a, const Launch *b);
// Whether its kernel takes several arrays.
bool takes_items(const Launch *l);
// Bytes that the arrays of such a launch take of its parameters, at most
// MOST_ITEM_BYTES.
enum { MOST_ITEM_BYTES = 3968 };
int64_t item_bytes(const Launch *l);
// How node i is launched, with all that are joined to it.
void group_launch(const Graph *g, NodeId i, Launch *l);
// What they cost together: what all of them read, as the header, is read once.
void group_cost(const Graph *g, NodeId i, Cost *cost);
// That what is joined can be: of scheduled graphs.
void check_joined(const Check *c);

#endif
