// fuse_backward: an activation's gradient moves into the launch before it.
//
//   %20 d.relu_1 = conv.dgrad(%18, %5)    %21 = relu.grad(%20, %9 relu_1)
// becomes
//   %21 = conv.dgrad(%18, %5, mask %9) act=relu
//
// A launch that can has an operand "mask?", or stands in for one that a library
// computes (Part.masking): it multiplies what it stores by the
// activation's derivative, read from the activation's result at the same
// element.  The data gradient can then be written over the very map it is the
// gradient of, and a chain of convolutions needs no gradient buffers.  Between
// the two there may be views: a flattened map.

#include <string.h>

#include "pass.h"

// Goes over to the part that takes a mask, without what it needed beside.
static void take_masking_part(Graph *g, Node *m, ValueId mask)
{
    int count = m->operand_count;
    ValueId *operands = NEW_ARRAY(g->arena, count + 1, ValueId);
    memcpy(operands, m->operands, (size_t)count * sizeof *operands);
    operands[count] = mask;
    m->part = (int8_t)m->op->parts[m->part].masking;
    m->operands = operands;
    m->operand_count = count + 1;
    m->result_count = 1;
}

// Gives m the mask if it can take one.  Where that is by another part, which a
// library does not compute, only the gradient of a map is worth it.
static bool give_mask(Graph *g, Node *m, ValueId mask, bool of_map)
{
    int slot = operand_called(m, "mask");
    if (slot != NONE && m->operands[slot] == NONE)
        m->operands[slot] = mask;
    else if (of_map && m->op->parts[m->part].masking != 0)
        take_masking_part(g, m, mask);
    else
        return false;
    return true;
}

static void fuse(Graph *g, const Uses *uses, NodeId id)
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
    if (!give_mask(g, m, n->operands[1], view != NONE)) return;
    m->act = n->op;
    NodeId last = view != NONE ? view : maker;
    g->nodes[last].results[0] = n->results[0];
    g->values[n->results[0]].def = last;
    n->op = NULL;
}

void pass_fuse_backward(Graph *g)
{
    Uses uses = graph_uses(g);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (n->op && (n->op->flags & ACT) && n->part == 1) fuse(g, &uses, i);
    }
    graph_compact(g);
}
