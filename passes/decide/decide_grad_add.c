// Sums of gradients are fused unless a budget must recompute values.  A fused
// launch needs both gradients and the mask at once:
//
//   %33 = conv.dgrad_add(%30, %5, %9.again, %20) act=relu
//
// while without fusion %30 may end before %9 is recomputed.  A copy of the
// graph goes through the passes up to share_buffers; if its peak exceeds the
// budget, the pass is left out.  Either way the bits are the same.
#include "decide_grad_add.h"
#include "decide_prologue.h"
#include "../trial.h"

PassDecision decide_grad_add(Graph *g, const PassOptions *o)
{
    // Later passes split gradients, which could then be added.
    if (has_prologues(g)) return PASS_IS_LEFT_OUT;
    if (g->mode != TRAIN || !searches(o)) return PASS_RUNS;
    if (o->smallest) return PASS_IS_LEFT_OUT;
    Arena *arena = arena_new();
    Graph *copy = graph_copy(g, arena);
    int64_t bytes = least_from(copy, o, PASS_fuse_grad_add);
    arena_free(arena);
    return bytes <= o->budget ? PASS_RUNS : PASS_IS_LEFT_OUT;
}
