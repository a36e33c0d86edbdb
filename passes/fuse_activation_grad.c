// fuse_activation_grad: fuses an activation's gradient into the launch before
// it.
//
//   %20 d.relu_1 = conv.dgrad(%18, %5)    %21 = relu.grad(%20, %9 relu_1)
// becomes
//   %21 = conv.dgrad(%18, %5, mask %9) act=relu
//
// A launch that can do so has an operand "mask?", or replaces one that a
// library computes (Kernel.masking).  It multiplies each stored element by the
// activation's derivative, taken from the activation's result at that element.
// The data gradient can then overwrite the map it is the gradient of, and a
// chain of convolutions needs no gradient buffers.  Views may stand between the
// two.
//
// Dropout after a BY_SIGN activation keeps the sign of its operand, or stores 0
// where the gradient is 0 anyway.  So one launch does both gradients from
// dropout's result (Kernel.gated):
//
//   %10 = dropout(%9 relu_1, header)
//   %20 = dropout(%19, header)    %21 = relu.grad(%20, %9)
// becomes
//   %21 = dropout.gated(%19, %10) act=relu
//
// Then relu_1 need not be kept.  Not done if nothing else keeps %10, nor if
// decide_gated_grad.h finds that it raises the peak.

#include <string.h>

#include "pass.h"

// Replaces m's kernel by the one that takes a mask; drops its further results.
static void take_masking_kernel(Graph *g, Node *m, ValueId mask)
{
    int count = m->operand_count;
    ValueId *operands = NEW_ARRAY(g->arena, count + 1, ValueId);
    memcpy(operands, m->operands, (size_t)count * sizeof *operands);
    operands[count] = mask;
    m->kernel = (int8_t)m->op->kernels[m->kernel].masking;
    m->operands = operands;
    m->operand_count = count + 1;
    m->result_count = 1;
}

// True if a kernel of m can read this mask: it is stored, or its slot loads.
static bool reads_mask(const Graph *g, const Node *m, int kernel, ValueId mask)
{
    Slot slot[MAX_SLOTS];
    int count = kernel_slots(kernel_operands(m->op, kernel), slot, MAX_SLOTS);
    for (int k = 0; k < count; k++)
        if (slot_is(&slot[k], "mask"))
            return is_stored(g, mask) || slot[k].loads;
    return false;
}

// Sets m's mask if m can take one; returns true if it did.  A library's GEMM
// (it has a workspace) keeps its kernel, since the other sums in another order.
static bool give_mask(Graph *g, Node *m, ValueId mask)
{
    int slot = operand_called(m, "mask");
    int masking = m->op->kernels[m->kernel].masking;
    if (slot != NONE && m->operands[slot] == NONE &&
        reads_mask(g, m, m->kernel, mask))
        m->operands[slot] = mask;
    else if (masking != 0 && result_named(m, "workspace") == NONE &&
             reads_mask(g, m, masking, mask))
        take_masking_kernel(g, m, mask);
    else
        return false;
    return true;
}

// Returns the forward node that applies to v, or to a view of it, the operation
// that m applies to a gradient; NONE if there is none.
static NodeId forward_of(const Graph *g, const Uses *uses, const Node *m,
                         ValueId v)
{
    for (int32_t i = uses->start[v]; i < uses->start[v + 1]; i++) {
        NodeId id = uses->list[i];
        const Node *n = &g->nodes[id];
        if (n->op == NULL || n->phase != FORWARD) continue;
        if (n->op->flags & VIEW) {
            id = forward_of(g, uses, m, n->results[0]);
            if (id != NONE) return id;
            continue;
        }
        bool alike = n->op == m->op && n->kernel == m->kernel &&
                     n->operands[0] == v && n->act == NULL &&
                     same_attributes(n, m) &&
                     same_shape(g->values[n->results[0]].shape,
                                g->values[m->results[0]].shape);
        for (int32_t k = 1; alike && k < n->operand_count; k++)
            alike = n->operands[k] == m->operands[k];
        if (alike) return id;
    }
    return NONE;
}

// True if a backward node already reads v or a view of it.
static bool is_kept(const Graph *g, const Uses *uses, ValueId v)
{
    for (int32_t i = uses->start[v]; i < uses->start[v + 1]; i++) {
        const Node *n = &g->nodes[uses->list[i]];
        if (n->op == NULL) continue;
        if (n->phase == BACKWARD ||
            (n->op->flags & VIEW && is_kept(g, uses, n->results[0])))
            return true;
    }
    return false;
}

// Makes m, the gradient of dropout, apply act's gradient at y too, if it can.
// gates numbers the candidates, for Decisions.unfused.
static bool give_gate(Graph *g, const Uses *uses, Node *m, const Op *act,
                      ValueId y, int *gates)
{
    int gated = m->op->kernels[m->kernel].gated;
    if (gated == 0 || !(act->flags & BY_SIGN)) return false;
    NodeId forward = forward_of(g, uses, m, y);
    if (forward == NONE) return false;
    ValueId made = g->nodes[forward].results[0];
    if (!is_kept(g, uses, made)) return false;
    int number = (*gates)++;
    if (g->decisions.unfused >> (number < 31 ? number : 31) & 1) return false;
    ValueId *operands = NEW_ARRAY(g->arena, 2, ValueId);
    operands[0] = m->operands[0];
    operands[1] = made;
    m->kernel = (int8_t)gated;
    m->operands = operands;
    m->operand_count = 2;
    return true;
}

static void fuse(Graph *g, const Uses *uses, NodeId id, int *gates)
{
    Node *n = &g->nodes[id];
    ValueId dy = n->operands[0];
    NodeId view = NONE;
    if (only_reader(g, uses, dy) == NONE) return;
    // A viewed value may be masked before the view.
    for (NodeId def = g->values[dy].def;
         def != NONE && g->nodes[def].op->flags & VIEW;
         def = g->values[dy].def) {
        if (view == NONE) view = def;
        dy = g->nodes[def].operands[0];
        if (only_reader(g, uses, dy) == NONE) return;
    }
    NodeId maker = g->values[dy].def;
    if (maker == NONE) return;
    Node *m = &g->nodes[maker];
    if (!give_mask(g, m, n->operands[1]) &&
        !give_gate(g, uses, m, n->op, n->operands[1], gates))
        return;
    m->act = n->op;
    NodeId last = view != NONE ? view : maker;
    g->nodes[last].results[0] = n->results[0];
    g->values[n->results[0]].def = last;
    n->op = NULL;
}

void pass_fuse_activation_grad(Graph *g, const PassOptions *o)
{
    (void)o;
    Uses uses = graph_uses(g);
    int gates = 0;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (n->op && (n->op->flags & ACT) && n->kernel == 1)
            fuse(g, &uses, i, &gates);
    }
    graph_compact(g);
}
