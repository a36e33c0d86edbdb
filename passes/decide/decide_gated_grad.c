// Gates: a gradient that is stopped by the sign of what was dropped to needs
// that longer than bits of the activation would be kept, until the launch that
// makes the gradient has run:
//
//   %30 = dense.wgrad(%29, %10)
//   %31 = dense.dgrad(%29, %2)                here, where there was no %10
//   %32 = dropout.gated(%31, %10) act=relu
//
// That may be where the most is alive.  So the graph is taken to where bytes
// are counted with all of them and with none; if all are worse, one after the
// other is left out where that helps.  Addresses are not tried.
#include "decide_gated_grad.h"
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
    if (g->mode == TRAIN) choose_gates(g, o);
    return PASS_RUNS;
}
