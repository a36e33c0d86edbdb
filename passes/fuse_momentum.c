// fuse_momentum: the launch that makes a gradient adds it to the momentum.
//
//   %20 d.fc.weight, ... = dense.wgrad(%18, %9)
//   sgd(%4 fc.weight!, %20, %5 fc.weight.momentum!, header)
// becomes
//   dense.momentum(%18, %9, %4 fc.weight, %5 fc.weight.momentum!, header)
//   sgd.move(%4 fc.weight!, %5 fc.weight.momentum, header)
//
// The gradient then has no bytes, and the update may run once the readers of
// the weight have run.  Two conditions hold.  The optimizer starts by adding
// the gradient to the momentum (Op.momentum).  It has neither Nesterov nor
// clipping, and no scaled loss, which needs all gradients first.  And the
// update is the only reader of the gradient.  This excludes gradients that are
// outputs, clipped by elements, summed over several uses of a weight, or summed
// over batches (train/grad_accumulation.c).  A launch that makes two gradients
// accumulates both or none.
//
// The workspace of a library's GEMM disappears with the gradient.  A skipped
// step leaves momenta unchanged: the kernels check that.
#include "../ir/families/momentum.h"
#include "../ir/families/optimizer.h"
#include "pass.h"

// Returns the node that updates a parameter from gradient d; NONE if there is
// none, or another node reads d or the momentum.
static NodeId only_update(const Graph *g, const Uses *uses, ValueId d)
{
    NodeId reader = only_reader(g, uses, d);
    if (reader == NONE) return NONE;
    const Node *n = &g->nodes[reader];
    bool updates = n->op == g->training.optimizer && n->kernel == 0 &&
                   n->operands[UPDATE_GRADIENT] == d;
    if (!updates) return NONE;
    ValueId momentum = n->operands[FIRST_STATE];
    return only_reader(g, uses, momentum) == reader ? reader : NONE;
}

// Finds the updates that read the gradients made by node n, NONE for an absent
// gradient.  False if a result can't be accumulated.
static bool updates_of(const Graph *g, const Uses *uses, const Node *n,
                       int pairs, NodeId *updates)
{
    for (int r = 0; r < n->result_count; r++) {
        ValueId v = n->results[r];
        if (r < pairs) updates[r] = v == NONE ? NONE : only_update(g, uses, v);
        if (v == NONE || (r < pairs && updates[r] != NONE)) continue;
        bool is_read = uses->start[v + 1] > uses->start[v];
        if (r < pairs || is_read || g->values[v].output) return false;
    }
    return updates[0] != NONE;
}

static void fuse(Graph *g, NodeId i, int kernel, int pairs,
                       const NodeId *updates)
{
    Node *n = &g->nodes[i];
    int count = ACCUMULATED;
    ValueId operands[MAX_SLOTS];
    for (int k = 0; k < ACCUMULATED; k++) operands[k] = n->operands[k];
    for (int k = 0; k < pairs; k++) {
        const Node *update = updates[k] == NONE ? NULL : &g->nodes[updates[k]];
        operands[count++] = update ? update->operands[UPDATED_WEIGHT] : NONE;
        operands[count++] = update ? update->operands[FIRST_STATE] : NONE;
    }
    operands[count++] = g->header;
    n->operands = NEW_ARRAY(g->arena, count, ValueId);
    for (int k = 0; k < count; k++) n->operands[k] = operands[k];
    n->operand_count = count;
    for (int r = 0; r < n->result_count; r++)
        if (n->results[r] != NONE) g->values[n->results[r]].def = NONE;
    n->result_count = 0;
    n->kernel = (int8_t)kernel;
}

// Removes the gradient from an update's operands: the momentum, the header and
// what follows it move up.
static void shorten(Graph *g, NodeId i)
{
    Node *n = &g->nodes[i];
    n->kernel = 1;
    for (int k = UPDATE_GRADIENT; k + 1 < n->operand_count; k++)
        n->operands[k] = n->operands[k + 1];
    n->operand_count--;
}

void pass_fuse_momentum(Graph *g, const PassOptions *o)
{
    (void)o;
    Momentum m;
    if (g->training.optimizer == NULL ||
        g->training.optimizer->momentum == NULL ||
        !g->training.optimizer->momentum(g, &m))
        return;
    Uses uses = graph_uses(g);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        NodeId updates[MAX_SLOTS] = {NONE};
        Slot slots[MAX_SLOTS];
        int kernel = n->op->kernels[n->kernel].with_momentum;
        if (kernel == 0) continue;
        int count =
            kernel_slots(kernel_operands(n->op, kernel), slots, MAX_SLOTS);
        int pairs = (count - ACCUMULATED - 1) / 2;
        if (!updates_of(g, &uses, n, pairs, updates)) continue;
        fuse(g, i, kernel, pairs, updates);
        for (int k = 0; k < pairs; k++)
            if (updates[k] != NONE) shorten(g, updates[k]);
    }
    graph_compact(g);
}
