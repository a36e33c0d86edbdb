// The order of the program, which passes from schedule on must preserve.
#ifndef CNNC_PROGRAM_ORDER_H
#define CNNC_PROGRAM_ORDER_H

#include "../ir.h"

// verify_recompute.c: lists the nodes of g in source order (Graph.written),
// then recomputed nodes and copies to and from host memory.  Sets each node's
// place, or that of its original, in that order.  Returns NULL, or the change
// that a pass made to a node, in arena.
const char *nodes_as_written(Arena *arena, const Graph *g, const Node **nodes,
                             const int32_t **place);

#endif
