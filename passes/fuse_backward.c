// fuse_backward: an activation's gradient moves into the launch before it.
//
//   %20 d.relu_1 = conv.dgrad(%18, %5)    %21 = relu.grad(%20, %9 relu_1)
// becomes
//   %21 = conv.dgrad(%18, %5, mask %9) act=relu
//
// A launch that can has an operand "mask?": it multiplies what it stores by the
// activation's derivative, read from the activation's result at the same
// element.  The data gradient can then be written over the very map it is the
// gradient of, and a chain of convolutions needs no gradient buffers.

#include <string.h>

#include "pass.h"

// The slot "mask?" of a node's part if it is there and still empty, else NONE.
static int free_mask_slot(const Node *n)
{
    Slot slots[MAX_SLOTS];
    int count = part_slots(part_operands(n->op, n->part), slots, MAX_SLOTS);
    for (int k = 0; k < count && k < n->operand_count; k++)
        if (slots[k].length == 4 && !strncmp(slots[k].name, "mask", 4))
            return n->operands[k] == NONE ? k : NONE;
    return NONE;
}

static void fuse(Graph *g, const Uses *uses, NodeId id)
{
    Node *n = &g->nodes[id];
    ValueId dy = n->operands[0], y = n->operands[1];
    NodeId maker = g->values[dy].def;
    if (maker == NONE || g->values[dy].output) return;
    if (uses->start[dy + 1] - uses->start[dy] != 1) return;
    Node *m = &g->nodes[maker];
    int slot = free_mask_slot(m);
    if (slot == NONE) return;
    m->operands[slot] = y;
    m->act = n->op;
    m->results[0] = n->results[0];
    g->values[n->results[0]].def = maker;
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
