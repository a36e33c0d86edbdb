// Chooses the dropout gradients to fuse with an activation's gradient.  A fused
// launch reads dropout's result, which must then live until that launch.  Sign
// bits of the activation might be smaller:
//
//   %30 = dense.wgrad(%29, %10)
//   %31 = dense.dgrad(%29, %2)                %10 is alive here, too
//   %32 = dropout.gated(%31, %10) act=relu
//
// The extended live range may raise the peak.  So copies of the graph go
// through the passes up to share_buffers, with all fusions and with none.  If
// all are worse than none, single fusions are left out if that lowers the peak.
// Offsets are not searched.
#include "decide_gated_grad.h"
#include "decide_prologue.h"
#include "../trial.h"

static int count_gates(const Graph *g, const PassOptions *o)
{
    bool any = false;
    for (NodeId i = 0; i < g->node_count && !any; i++)
        any = g->nodes[i].op->kernels[0].gated != 0;
    if (!any) return 0;
    Arena *arena = arena_new();
    Graph *copy = graph_copy(g, arena);
    int count = 0;
    pass_fuse_activation_grad(copy, o);
    for (NodeId i = 0; i < copy->node_count; i++) {
        const Node *n = &copy->nodes[i];
        count += n->kernel != 0 && n->op->kernels[0].gated == n->kernel;
    }
    arena_free(arena);
    return count;
}

static int64_t least_with(const Graph *g, const PassOptions *o,
                          uint32_t unfused)
{
    Arena *arena = arena_new();
    Graph *copy = graph_copy(g, arena);
    copy->decisions.unfused = unfused;
    int64_t bytes = least_from(copy, o, PASS_fuse_activation_grad);
    arena_free(arena);
    return bytes;
}

static void choose_gates(Graph *g, const PassOptions *o)
{
    enum { MOST_TRIED = 8 };
    int count = count_gates(g, o);
    if (count == 0) return;
    const uint32_t all = UINT32_MAX;
    int64_t none = least_with(g, o, all), best = least_with(g, o, 0);
    uint32_t unfused = 0;
    for (int k = 0; k < count && k < MOST_TRIED && best > none; k++) {
        int64_t bytes = least_with(g, o, unfused | 1u << k);
        if (bytes >= best) continue;
        best = bytes;
        unfused |= 1u << k;
    }
    g->decisions.unfused = best > none ? all : unfused;
}

PassDecision decide_gates(Graph *g, const PassOptions *o)
{
    if (has_prologues(g)) return PASS_IS_LEFT_OUT;
    if (g->mode == TRAIN) choose_gates(g, o);
    return PASS_RUNS;
}
