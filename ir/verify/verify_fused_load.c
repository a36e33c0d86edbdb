// Checks inlined nodes, which are computed on load: their readers must support
// that.
#include "verify.h"

// True if n can compute operand k on load.
static bool can_do_without(const Graph *g, const Node *n, int k)
{
    const Node *maker = &g->nodes[g->values[n->operands[k]].def];
    Slot slot[MAX_SLOTS];
    int slots =
        kernel_slots(kernel_operands(n->op, n->kernel), slot, MAX_SLOTS);

    if (nodes_on_load(g, maker, MOST_ON_LOAD) > MOST_ON_LOAD) return false;
    if (n->op->kernels[n->kernel].joins && !n->fused_load) return false;
    if (can_load(g, maker))
        return slot_at(slot, slots, k)->loads;
    return n->op->flags & POOLS && n->kernel == 0 && k == 0 &&
           may_be_pooled(maker) &&
           maker->op->pooling->fits(g, maker, n);
}

void check_fused_load(const Check *c, NodeId id)
{
    const Graph *g = c->g;
    const Node *n = &g->nodes[id];

    for (int k = 0; k < n->operand_count; k++)
        if (n->operands[k] != NONE && !is_stored(g, n->operands[k]) &&
            !can_do_without(g, n, k))
            node_fault(c, id, "%s must be stored to be read here",
                       g->values[n->operands[k]].name);
    if (!n->fused_load) return;
    if (n->op->flags & VIEW || (!may_be_pooled(n) && !can_load(g, n)))
        node_fault(c, id, "%s can't be computed on load", n->op->name);
    if (n->phase == UPDATE || n->result_count < 1 || n->results[0] == NONE ||
        g->values[n->results[0]].output)
        node_fault(c, id, "its result must be stored");
    for (int k = 1; k < n->result_count; k++)
        if (n->results[k] != NONE)
            node_fault(c, id,
                       "is computed on load, but makes more than one value");
}
