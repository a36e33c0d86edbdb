// Conversions: a graph's launches as a Remat, and a schedule of them as a
// graph.
#ifndef CNNC_REMAT_GRAPH_H
#define CNNC_REMAT_GRAPH_H

#include "../../ir/ir.h"
#include "remat_schedule.h"

// Returns the launches of g, a training step in the order of pass schedule, as
// steps: the i-th launch is step i.  Values are classes of values
// (live_model.h) that are not persistent.  Costs are times in the model of g's
// GPU, in picoseconds.  The result is stored in g's arena.
Remat remat_of(Graph *g);

// Returns the same in source order (Graph.written, which must be set): its step
// i is step (*step)[i] of remat_of.
Remat remat_as_written(Graph *g, int32_t **step);

// Returns for each value of g the value of remat_of(g) that it aliases, or
// NONE.
int32_t *remat_values(Graph *g);

// Excludes from recomputation the steps of r that contain GEMMs; r is made from
// g.
void remat_spare_products(const Graph *g, Remat *r);

// Applies a schedule of launches to g.  A recomputed launch is a copy, of phase
// RECOMPUTE, with new values; each node reads the newest ones.  An update waits
// for the recomputations that read the old value.
void remat_apply(Graph *g, const RematSchedule *schedule);

#endif
