// The program that the passes from schedule on must keep.
#ifndef CNNC_PROGRAM_ORDER_H
#define CNNC_PROGRAM_ORDER_H

#include "../ir.h"

// verify_recompute.c: the nodes of g in the order in which the program has them
// (Graph.written), then those that are copies, or copy to host memory and back;
// and for each the place of it, or of what it copies, in that order.  Returns
// NULL, or what passes changed of them, in arena.
const char *nodes_as_written(Arena *arena, const Graph *g, const Node **nodes,
                             const int32_t **place);

#endif
