// What the two halves of the check of a plan against its program share.
#ifndef CNNC_VERIFY_PROGRAM_H
#define CNNC_VERIFY_PROGRAM_H

#include "../plan/plan.h"
#include "../strided_views.h"

typedef struct Against {
    Arena       *arena;
    const Graph *g;
    const Plan  *plan;
    const Node  *nodes;         // in the program's order, then copies
    int32_t      count;
    const int32_t *place;       // of each node, in the program's order
    int32_t     *node_of;       // of each step: a node of its launch
    int32_t     *beside;        // of each node: another of the same launch
    int32_t     *read_by;       // of each value: the last step that was seen to
    int32_t     *written_by;    // touch it, counted from one
    const Within *within;       // what each value is a name for
} Against;

// verify_buffers.c: NULL, or what is wrong.
const char *check_buffers(Against *a);

#endif
