// Checks groups of launches (launch_group.h): they are alike, fit in one
// launch, and no node touches a value that another changes.
#include "../launch_group.h"
#include "verify.h"

// The node that last touched each value, and that last made or updated it;
// NONE: no node.
typedef struct Touches {
    NodeId *touched, *changed;
} Touches;

// Node i, of a group that begins at `first`, touches v.  The operation of the
// last block may touch the others' values.
static void check_touch(const Check *c, Touches *t, NodeId first, NodeId i,
                        ValueId v, bool changes)
{
    NodeId by = changes ? t->touched[v] : t->changed[v];
    if (by >= first && by != i && !is_last(&c->g->nodes[i]))
        node_fault(c, i, "it is grouped with %s, but both touch %s",
                   c->g->nodes[by].name, c->g->values[v].name);
    t->touched[v] = i;
    if (changes) t->changed[v] = i;
}

static void check_touches(const Check *c, Touches *t, NodeId first, NodeId i)
{
    const Graph *g = c->g;
    const Node *n = &g->nodes[i];
    Slot slots[MAX_SLOTS];
    ValueId reads[MAX_READS];
    int count =
        kernel_slots(kernel_operands(n->op, n->kernel), slots, MAX_SLOTS);
    for (int k = node_reads(g, n, reads) - 1; k >= 0; k--)
        check_touch(c, t, first, i, reads[k], false);
    for (int32_t k = 0; k < n->operand_count && k < count; k++)
        if (n->operands[k] != NONE && slots[k].updated)
            check_touch(c, t, first, i, n->operands[k], true);
    for (int32_t r = 0; r < n->result_count; r++)
        if (n->results[r] != NONE)
            check_touch(c, t, first, i, n->results[r], true);
}

// Checks node i against the first node's launch.  If the kernel does several
// operations, operators and phases may differ.  Returns the item_bytes of i.
static int64_t check_alike(const Check *c, const Launch *others, NodeId i)
{
    const Graph *g = c->g;
    const Node *n = &g->nodes[i], *of = others->node;
    Launch own = { .g = (Graph *)g, .node = n };
    bool same = n->op == of->op && n->kernel == of->kernel &&
                n->phase == of->phase;
    bool launches = is_launch(n) && is_launch(of);
    if (launches) n->op->kernels[n->kernel].launch(g, n, &own);
    if (!launches || (!same && others->own_arg == 0))
        node_fault(c, i, "it is grouped with %s, which is of another kind",
                   of->name);
    if (!are_alike(&own, others))
        node_fault(c, i, "its launch can't be that of %s too", of->name);
    return item_bytes(&own);
}

// An operation of the last block is the last node of its group, on a launch
// that accepts it.
static void check_last(const Check *c, const Launch *others, NodeId i)
{
    const Graph *g = c->g;
    const Node *n = &g->nodes[i], *of = others->node;
    if (!others->takes_last)
        node_fault(c, i, "the launch of %s accepts no last operation",
                   of->name);
    if (group_end(g, i) > i + 1)
        node_fault(c, i, "%s is grouped after the last operation",
                   g->nodes[i + 1].name);
    if (n->fused_load || n->in_place)
        node_fault(c, i, "it is no launch, but grouped with one");
}

static void check_group(const Check *c, Touches *t, NodeId first)
{
    const Graph *g = c->g;
    const Node *n = &g->nodes[first];
    Launch others = { .g = (Graph *)g, .node = n };
    if (is_launch(n)) n->op->kernels[n->kernel].launch(g, n, &others);
    int64_t bytes = item_bytes(&others);
    check_touches(c, t, first, first);
    for (NodeId i = first + 1, end = group_end(g, first); i < end; i++) {
        if (is_last(&g->nodes[i])) check_last(c, &others, i);
        else bytes += check_alike(c, &others, i);
        check_touches(c, t, first, i);
    }
    if (bytes > MOST_ITEM_BYTES)
        node_fault(c, first, "too many are grouped with it for a launch");
}

void check_grouped(const Check *c)
{
    const Graph *g = c->g;
    Touches t = { NEW_ARRAY(g->arena, g->value_count, NodeId),
                  NEW_ARRAY(g->arena, g->value_count, NodeId) };
    for (ValueId v = 0; v < g->value_count; v++)
        t.touched[v] = t.changed[v] = NONE;
    for (NodeId i = 0; i < g->node_count; i = group_end(g, i)) {
        if (g->nodes[i].grouped || (group_end(g, i) > i + 1 &&
                                   !(g->facts & IS_SCHEDULED)))
            node_fault(c, i, "nothing before it can be grouped with it");
        if (group_end(g, i) > i + 1) check_group(c, &t, i);
    }
}
