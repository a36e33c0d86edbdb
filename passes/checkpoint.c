// checkpoint: what is kept, and what is computed again.
//
//   forward a, b, c; backward c, b, a     ->
//   forward a, b, c; backward c; recompute b from a; backward b, a
//
// It writes the schedule into the graph that the search for a budget chose
// (decide/decide_remat.c) or that follows from marks
// (remat/user_checkpoints.c); without either all is kept.  A launch that runs
// again is a node of phase RECOMPUTE with results of its own
// (Value.recompute_of).  It changes no state: running statistics are taken in
// the update phase, once, and random numbers follow from the seed and the
// training step.  Sums and products are those of the first time, so losses and
// weights are the same bits.  Copies of what waits in host memory
// (Graph.offloading) come later, when the order is known: runner.c.
#include "pass.h"
#include "remat/remat_graph.h"

void pass_checkpoint(Graph *g);

void pass_checkpoint(Graph *g)
{
    if (g->decisions.remat_schedule != NULL) remat_apply(g,
                                                   g->decisions.remat_schedule);
}
