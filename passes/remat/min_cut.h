// Minimum cuts of a graph, by maximum flow (preflow-push, highest node first).
#ifndef CNNC_MIN_CUT_H
#define CNNC_MIN_CUT_H

#include <stdbool.h>
#include "../../ir/base/arena.h"

// A capacity that is never cut if another cut exists.
#define FLOW_WHOLE ((int64_t)1 << 61)

typedef struct Flow Flow;

// Returns a graph of node_count nodes without arcs; it is stored in the arena.
Flow *flow_new(Arena *arena, int32_t node_count);

// Adds an arc between two nodes and returns its number: 0, 1, ...  flow_set
// sets its capacity, from 0 to FLOW_WHOLE, before each cut.  No arc may be
// added after the first cut.
int32_t flow_arc(Flow *f, int32_t from, int32_t to);
void flow_set(Flow *f, int32_t arc, int64_t capacity);

// Returns the smallest sum of capacities of arcs that lead from a set with
// `source` and without `sink` to the other nodes.  Sets near[i] to true if node
// i is in the largest such set.  The capacities of source's arcs sum to at most
// FLOW_WHOLE.  Equal graphs have equal cuts.
int64_t flow_cut(Flow *f, int32_t source, int32_t sink, bool *near);

#endif
