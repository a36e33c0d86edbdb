// Between a graph and what is decided of it: its launches as a Remat, and a
// schedule of them as a graph.
#ifndef CNNC_REMAT_GRAPH_H
#define CNNC_REMAT_GRAPH_H

#include "../../ir/ir.h"
#include "remat_schedule.h"

// The launches of g, a training step in the order that schedule found, as
// steps: the i-th launch is step i.  Values are classes of values
// (live_model.h), without what is persistent; costs are times in the model of
// g's GPU.  What it returns lies in g's arena.
Remat remat_of(Graph *g);

// The same of the order in which the program was written (Graph.written), which
// g has: step i of it is step (*step)[i] of remat_of.
Remat remat_as_written(Graph *g, int32_t **step);

// Of each value of g: the one of remat_of(g) whose bytes it lies in, or NONE.
int32_t *remat_values(Graph *g);

// From now on no step of r, which is of g, may run again that has matrix
// products.
void remat_spare_products(const Graph *g, Remat *r);

// Makes g run this schedule of its launches: what runs a second time is a copy,
// of phase RECOMPUTE, that makes new values, and everything reads what was made
// last.  An update waits for those who read the old value again.
void remat_apply(Graph *g, const RematSchedule *schedule);

#endif
