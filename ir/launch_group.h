// Horizontal fusion: several nodes as one launch.  The nodes are consecutive,
// and each except the first is `joined` to the one before.  The nodes of one
// kind each have arrays of their own:
//
//   [40] update a.sgd: sgd(a, d.a, -, header)
//   [41] update b.sgd: sgd(b, d.b, -, header) grouped
//
// They are one step of the plan, which touches the values of all nodes.  The
// nodes are independent, so their blocks may run in any order.
//
// Alternatively, the kernel does several operations on the same operands
// (launch_own).  It works row by row in the order of the nodes, so the last one
// may overwrite a row:
//
//   [13] forward loss: %25 rows = softmax_cross_entropy(logits, label, -)
//   [14] forward accuracy: %26 right = accuracy(logits, label, -) grouped
//   [15] backward loss.grad: %44 d.logits = ...grad(logits, label, -) grouped
//   [16] forward sums: %27 = accumulate_metrics(header, %25, %26) grouped
//
// A node with Part.last may be joined to any launch whose kernel accepts it.
// The last block to finish runs it, so it may read the other nodes' results and
// overwrite their operands.
#ifndef CNNC_LAUNCH_GROUP_H
#define CNNC_LAUNCH_GROUP_H

#include "op/op.h"

// Returns the node after the last one grouped with node i.
NodeId group_end(const Graph *g, NodeId i);
// True if one launch could take the arrays of both: kernel and other arguments
// are equal.
bool are_alike(const Launch *a, const Launch *b);
// True if its kernel takes several arrays, or does several operations.
bool takes_more(const Launch *l);
// True if node i is the first of nodes that do several operations on the same
// operands.  Their results are live from the first of them on; other grouped
// nodes keep their operands alive until the last.
bool begins_several(const Graph *g, NodeId i);
// True if a node from `first` to before `end` makes value v.
bool makes(const Graph *g, NodeId first, NodeId end, ValueId v);
// Returns the bytes of kernel parameters that such a launch's arrays take, at
// most MOST_ITEM_BYTES; 0 for several operations.
enum { MOST_ITEM_BYTES = 3968 };
int64_t item_bytes(const Launch *l);
// Sets the launch of node i with all nodes grouped with it.
void group_launch(const Graph *g, NodeId i, Launch *l);
// Sets their total cost; a value that several read counts once.
void group_cost(const Graph *g, NodeId i, Cost *cost);

#endif
