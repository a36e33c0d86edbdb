// fuse_epilogue: fuses a bias and an activation into the launch before them.
//
//   %4 = conv(%0, %1)        %5 = bias(%4, %2)        %6 = relu(%5)
// becomes
//   %6 = conv(%0, %1, %2) act=relu
//
// An operator's flags tell which epilogue its launch has: ADDS_BIAS (a last
// operand "bias?"), STORES_ACT.  The value in between must have no other reader
// and be no output.  A library's GEMM, which has a workspace, has no epilogue.
// Then the bias node takes the activation and adds the bias in place.  Pass
// fuse_pool fuses pools.

#include "pass.h"

// Gives n the result of reader and deletes reader.  The result inherits the
// mark of n's old result.
static void absorb(Graph *g, NodeId n, NodeId reader)
{
    ValueId result = g->nodes[reader].results[0];
    graph_mark_too(g, g->nodes[n].results[0], result);
    g->nodes[n].results[0] = result;
    g->values[result].def = n;
    g->nodes[reader].op = NULL;
}

static bool absorb_next(Graph *g, const Uses *uses, NodeId id)
{
    Node *n = &g->nodes[id];
    NodeId next = only_reader(g, uses, n->results[0]);
    if (next == NONE || n->act || g->nodes[next].kernel != 0) return false;
    const Node *m = &g->nodes[next];
    ValueId *bias = &n->operands[n->operand_count - 1];
    if (m->op == ops[OP_bias] && !m->act && (n->op->flags & ADDS_BIAS) &&
        *bias == NONE)
        *bias = m->operands[1];
    else if ((m->op->flags & ACT) && (n->op->flags & STORES_ACT))
        n->act = m->op;
    else
        return false;
    absorb(g, id, next);
    return true;
}

void pass_fuse_epilogue(Graph *g, const PassOptions *o)
{
    (void)o;
    Uses uses = graph_uses(g);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (!n->op || n->kernel != 0) continue;
        if (!(n->op->flags & (ADDS_BIAS | STORES_ACT)) ||
            result_named(n, "workspace") != NONE)
            continue;
        while (absorb_next(g, &uses, i)) continue;
    }
    graph_compact(g);
}
