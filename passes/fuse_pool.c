// fuse_pool: fuses a pool with the launch that makes the map it pools.
//
//   %6 = conv(%0, %1, %2) act=relu     %7, %8 = maxpool(%6)
// becomes
//   %6 = conv(%0, %1, %2) fused_load      %7, %8 = maxpool(%6) act=relu
//
// First an activation that GATES moves after a pool that selects the maximum.
// It is monotonic, so the maximum keeps its place, and its gradient is 0 where
// it maps different numbers to one.  The gradient then needs only the pooled
// value, not even the signs of the map before the pool.  This holds for any
// maker of the map, even if the map is stored.  Other activations round: two
// numbers may become equal where the gradient is not 0, and the first of them
// need not be the maximum.
//
// Then a node with Op.pooling is fused into the pool that is its map's only
// reader.  The map is not stored.  Outputs and maps with other readers, such as
// a U-net's skip, stay.  So does an activation before a mean, whose gradient
// needs the sign of each element.  The mark of a map that is not stored moves
// to the pool's result.
//
// Maps of 8 bits wait until pass lower_precision has found their scales.
// Rounding keeps the order of numbers, so the bits are the same if both maps
// have one scale.  The convolution then keeps its activation.  A program that
// calibrates measures both maps, and fuses none.

#include "fuse_pool.h"

// Returns the node that makes operand 0 of n, if n is its only reader; NONE
// otherwise: the operand must be stored.
static NodeId only_maker(const Graph *g, const Uses *uses, const Node *n)
{
    ValueId x = n->operands[0];
    NodeId maker = g->values[x].def;
    if (maker == NONE || only_reader(g, uses, x) == NONE) return NONE;
    const Node *m = &g->nodes[maker];
    return m->phase == FORWARD && m->kernel == 0 ? maker : NONE;
}

// Moves to n the activation of its operand's maker, or the maker if that is
// one.
static void take_act(Graph *g, const Uses *uses, Node *n)
{
    NodeId maker = only_maker(g, uses, n);
    if (maker == NONE || n->act != NULL) return;
    Node *m = &g->nodes[maker];
    const Op *act = m->op->flags & ACT ? m->op : m->act;
    if (act == NULL || !(act->flags & GATES)) return;
    if (act == m->op) {
        graph_mark_too(g, n->operands[0], m->operands[0]);
        n->act = m->op;
        n->operands[0] = m->operands[0];
        m->op = NULL;
    } else {
        n->act = act;
        m->act = NULL;
    }
}

static void fuse(Graph *g, NodeId maker, const Node *pool)
{
    Node *m = &g->nodes[maker];
    if (!may_be_pooled(m) || !m->op->pooling->fits(g, m, pool)) return;
    m->fused_load = true;
    graph_mark_too(g, m->results[0], pool->results[0]);
    g->values[m->results[0]].marked = false;
}

void fuse_into_pool(Graph *g, NodeId maker, const Node *pool)
{
    if (g->map != I8) fuse(g, maker, pool);
}

// True if n selects integers of 8 bits from a map with their scale.
static bool selects_integers(const Graph *g, const Node *n)
{
    if (!(n->op->flags & SELECTS) || !(n->op->flags & POOLS) ||
        n->kernel != 0)
        return false;
    ValueId scale = g->values[n->operands[0]].scale;
    return scale != NONE && scale == g->values[n->results[0]].scale;
}

void fuse_integer_pools(Graph *g)
{
    Uses uses = graph_uses(g);
    for (NodeId i = 0; i < g->node_count && !g->calibrates; i++) {
        const Node *n = &g->nodes[i];
        if (!selects_integers(g, n)) continue;
        ValueId x = n->operands[0];
        NodeId maker = g->values[x].def;
        if (maker != NONE && only_reader(g, &uses, x) != NONE)
            fuse(g, maker, n);
    }
}

static void fuse_maker(Graph *g, const Uses *uses, const Node *n)
{
    NodeId maker = only_maker(g, uses, n);
    if (maker != NONE) fuse_into_pool(g, maker, n);
}

void pass_fuse_pool(Graph *g, const PassOptions *o)
{
    (void)o;
    Uses uses = graph_uses(g);
    for (NodeId i = 0; i < g->node_count; i++) {
        Node *n = &g->nodes[i];
        if (!n->op || n->kernel != 0) continue;
        // A map of 8 bits is better stored after its activation.
        if (n->op->flags & SELECTS && g->map != I8) take_act(g, &uses, n);
        if (n->op->flags & POOLS) fuse_maker(g, &uses, n);
    }
    graph_compact(g);
}
