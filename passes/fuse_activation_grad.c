// fuse_activation_grad: an activation's gradient joins the launch before it.
//
//   %20 d.relu_1 = conv.dgrad(%18, %5)    %21 = relu.grad(%20, %9 relu_1)
// becomes
//   %21 = conv.dgrad(%18, %5, mask %9) act=relu
//
// A launch that can has an operand "mask?", or stands in for one that a library
// computes (Kernel.masking): it multiplies what it stores by the
// activation's derivative, read from the activation's result at the same
// element.  The data gradient can then be written over the very map it is the
// gradient of, and a chain of convolutions needs no gradient buffers.  Between
// the two there may be views: a flattened map.
//
// What drops behind an activation BY_SIGN has left the activation's sign in
// what it made, or 0 where the gradient is 0 in any case.  The launch on the
// gradient and the activation's are then one, which reads that (Kernel.gated):
//
//   %10 = dropout(%9 relu_1, header)
//   %20 = dropout(%19, header)    %21 = relu.grad(%20, %9)
// becomes
//   %21 = dropout.gated(%19, %10) act=relu
//
// So nothing of relu_1 is kept.  Not done where only this would keep %10, nor
// for those that the runner finds to cost bytes (decide_gated_grad.h).

#include <string.h>

#include "pass.h"

// Goes over to the kernel that takes a mask, without what it needed beside.
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

// Gives m the mask if it can take one.  If another kernel takes it, only the
// gradient of a map is worth it, and m must be no product of a library, whose
// sums have another order.
static bool give_mask(Graph *g, Node *m, ValueId mask, bool of_map)
{
    int slot = operand_called(m, "mask");
    if (slot != NONE && m->operands[slot] == NONE)
        m->operands[slot] = mask;
    else if (of_map && m->op->kernels[m->kernel].masking != 0 &&
             result_named(m, "workspace") == NONE)
        take_masking_kernel(g, m, mask);
    else
        return false;
    return true;
}

// The forward node that does to v, or to a view of it, what m does to a
// gradient; NONE: there is none.
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

// Whether the backward pass reads v, or a view of it, in any case.
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

// Lets m, which drops a gradient, do what act does to it then, at y.  gates
// counts the nodes that could.
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
    // What is viewed may be masked before.
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
    if (!give_mask(g, m, n->operands[1], view != NONE) &&
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
