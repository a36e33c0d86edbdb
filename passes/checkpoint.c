// checkpoint: keeps some values and recomputes others.
//
//   forward a, b, c; backward c, b, a     ->
//   forward a, b, c; backward c; recompute b from a; backward b, a
//
// Writes a schedule into the graph: the one that the search for a budget chose
// (decide/decide_remat.c), or the one that follows from marks
// (remat/user_checkpoints.c).  Without either, all values are kept.  A
// recomputed launch is a node of phase RECOMPUTE with results of its own
// (Value.recompute_of).  It changes no state: running statistics are updated
// once, in the update phase, and random numbers follow from the seed and the
// training step.  Sums and products are in the order of the first time, so
// losses and weights are bit-identical.  Copies of offloaded values
// (Decisions.offloading) are added last, when the order is known.
#include "pass.h"
#include "remat/remat_graph.h"
#include "trial.h"

// Recomputation changes live ranges, so schedule runs once more if it is
// enabled.  Host copies keep its order.
void pass_checkpoint(Graph *g, const PassOptions *o)
{
    const Decisions *d = &g->decisions;
    if (d->remat_schedule != NULL) remat_apply(g, d->remat_schedule);
    if (d->remat_schedule != NULL && o->enabled[PASS_schedule])
        pass_schedule(g, o);
    if (d->offloading != NULL) copy_to_host(g, o);
}
