// fuse_grad_add: the launch that computes a map's second gradient adds the
// first to it.
//
//   %31 = conv.dgrad(%30, %5)      %32 = add(%20, %31)
//   %33 = relu.grad(%32, %9)
// becomes
//   %32 = conv.dgrad_add(%30, %5, -, %20)
//   %33 = relu.grad(%32, %9)
// and pass fuse_activation_grad then makes one node of both.
//
// A residual join gives its gradient to two readers of a map, so a block's
// backward pass ends in such a sum.  Unfused it moves seven maps: it stores
// %31, reads it with %20, stores %32, reads that with %9 and stores %33.  Fused
// it moves three.  The result overwrites %20 or %9.
//
// A kernel that can do so has a further part (Kernel.adding).  The first
// gradient must exist where the second is computed, in the order of the source,
// so no value lives longer.  The second must have no other reader.  The mask
// then meets both gradients, no longer their sum alone: a budget that
// recomputes the mask would need more bytes there.  So a budget that nothing
// but recomputation meets leaves the pass out (decide/decide_grad_add.c).
//
// No bit changes.  Where maps have 16 bits, the kernel rounds %31 and %32 as if
// they were stored.
#include <string.h>

#include "pass.h"

// Replaces m's kernel by the one that adds `other`, and has all slots of it.
static void take_adding_kernel(Graph *g, Node *m, ValueId other)
{
    int kernel = m->op->kernels[m->kernel].adding;
    Slot slots[MAX_SLOTS];
    int count = kernel_slots(kernel_operands(m->op, kernel), slots, MAX_SLOTS);
    ValueId *operands = NEW_ARRAY(g->arena, count, ValueId);
    memcpy(operands, m->operands, (size_t)m->operand_count * sizeof *operands);
    for (int k = m->operand_count; k < count; k++) operands[k] = NONE;
    operands[count - 1] = other;
    m->kernel = (int8_t)kernel;
    m->operands = operands;
    m->operand_count = count;
}

// Fuses node id, a sum of gradients, with the node that makes operand k; false
// if that can't add.
static bool fuse(Graph *g, const Uses *uses, NodeId id, int k)
{
    Node *n = &g->nodes[id];
    ValueId second = n->operands[k], first = n->operands[1 - k];
    NodeId maker = g->values[second].def;
    if (maker == NONE || only_reader(g, uses, second) != id ||
        g->values[first].def >= maker)
        return false;
    Node *m = &g->nodes[maker];
    int mask = operand_called(m, "mask");
    if (m->phase != BACKWARD || m->op->kernels[m->kernel].adding == 0 ||
        m->results[0] != second ||
        (mask != NONE && m->operands[mask] != NONE))
        return false;
    take_adding_kernel(g, m, first);
    m->results[0] = n->results[0];
    g->values[n->results[0]].def = maker;
    n->op = NULL;
    return true;
}

void pass_fuse_grad_add(Graph *g, const PassOptions *o)
{
    (void)o;
    Uses uses = graph_uses(g);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (n->op != ops[OP_add] || n->kernel != 0 || n->phase != BACKWARD)
            continue;
        if (!fuse(g, &uses, i, 1)) fuse(g, &uses, i, 0);
    }
    graph_compact(g);
}
