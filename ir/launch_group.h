// Several launches as one: nodes that follow each other, each but the first
// `grouped` with the one before.  They are of one kind, each over arrays of its
// own:
//
//   [40] update a.sgd: sgd(a, d.a, -, header)
//   [41] update b.sgd: sgd(b, d.b, -, header) grouped
//
// is one step of the plan, that touches what any of them touches.  They depend
// on each other in nothing, so that their blocks may run in any order.
//
// Or the kernel does several things to the same operands, row by row in the
// order of the nodes (launch_own), so that the last may write over a row:
//
//   [13] forward loss: %25 rows = softmax_cross_entropy(logits, label, -)
//   [14] forward accuracy: %26 right = accuracy(logits, label, -) grouped
//   [15] backward loss.grad: %44 d.logits = ...grad(logits, label, -) grouped
//   [16] forward sums: %27 = accumulate_metrics(header, %25, %26) grouped
//
// A node whose operator says so (Kernel.last) may be grouped with any launch
// whose kernel takes it: the block that ends last does it, so it reads what the
// others make, and changes what they read.
#ifndef CNNC_LAUNCH_GROUP_H
#define CNNC_LAUNCH_GROUP_H

#include "op/op.h"

// The node behind the last that is grouped with node i.
NodeId group_end(const Graph *g, NodeId i);
// Whether a launch could take the arrays of both, but for their number: the
// same kernel, told the same otherwise.
bool are_alike(const Launch *a, const Launch *b);
// Whether its kernel takes several arrays, or does several things.
bool takes_more(const Launch *l);
// Whether node i is the first of such as do several things to the same
// operands.  What they make is there from the first of them on; what others
// that are one launch read, until the last of them.
bool begins_several(const Graph *g, NodeId i);
// Whether value v is made by one of the nodes from `first` to before `end`.
bool makes(const Graph *g, NodeId first, NodeId end, ValueId v);
// Bytes that the arrays of such a launch take of its parameters, at most
// MOST_ITEM_BYTES; of what does several things, none that count.
enum { MOST_ITEM_BYTES = 3968 };
int64_t item_bytes(const Launch *l);
// How node i is launched, with all that are grouped with it.
void group_launch(const Graph *g, NodeId i, Launch *l);
// What they cost together: what all of them read, as the header, is read once.
void group_cost(const Graph *g, NodeId i, Cost *cost);

#endif
