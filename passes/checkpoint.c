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
// (Decisions.offloading) are added last, when the order is known.
#include "pass.h"
#include "remat/remat_graph.h"
#include "trial.h"

// Recomputation changes lifetimes, so the order is found anew, if it was found
// at all; copies to host memory keep that order.
void pass_checkpoint(Graph *g, const PassOptions *o)
{
    const Decisions *d = &g->decisions;
    if (d->remat_schedule != NULL) remat_apply(g, d->remat_schedule);
    if (d->remat_schedule != NULL && o->enabled[PASS_schedule])
        pass_schedule(g, o);
    if (d->offloading != NULL) copy_to_host(g, o);
}
