// The cheapest way to cut a graph in two: by the largest flow, pushed along
// arcs (preflow-push, from the highest node).
#ifndef CNNC_MIN_CUT_H
#define CNNC_MIN_CUT_H

#include <stdbool.h>
#include "../../ir/base/arena.h"

// Arcs of so much are never cut where there is another way.
#define FLOW_WHOLE ((int64_t)1 << 61)

typedef struct Flow Flow;

// A graph of so many nodes, without arcs; it lives in the arena.
Flow *flow_new(Arena *arena, int32_t node_count);

// An arc between two nodes, and its number: 0, 1, ...  Its capacity, from 0 to
// FLOW_WHOLE, may be set again before each cut; no arc may be added after one.
int32_t flow_arc(Flow *f, int32_t from, int32_t to);
void flow_set(Flow *f, int32_t arc, int64_t capacity);

// The least sum of the capacities of arcs that lead from a set of nodes with
// `source` and without `sink` to the rest; near[i]: whether node i is in the
// largest such set.  The capacities of the arcs from source sum up to at most
// FLOW_WHOLE.  Equal graphs have equal cuts.
int64_t flow_cut(Flow *f, int32_t source, int32_t sink, bool *near);

#endif
