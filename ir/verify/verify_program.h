// State shared by the files that check a plan against its program.
#ifndef CNNC_VERIFY_PROGRAM_H
#define CNNC_VERIFY_PROGRAM_H

#include "../plan/plan.h"
#include "../strided_views.h"

typedef struct Against {
    Arena       *arena;
    const Graph *g;
    const Plan  *plan;
    const Node  *nodes;         // in source order, then copies
    int32_t      count;
    const int32_t *place;       // of each node, in source order
    int32_t     *node_of;       // of each step: a node of its launch
    int32_t     *beside;        // of each node: another of the same launch
    int32_t     *read_by;       // of each value: the last step that touches it
    int32_t     *written_by;    // so far, counted from 1
    const Within *within;       // the alias of each value
} Against;

// verify_buffers.c: returns NULL, or the fault.
const char *check_buffers(Against *a);

#endif
