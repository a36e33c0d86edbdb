// fuse_load: what is cheap is computed where it is read, and never stored.
//
//   %5 z = conv(%4, %1)
//   %9 y = batchnorm(%5, ...) act=relu          inlined
//   %12 = conv(%9, %2)                          loads %5, normalises, activates
//   ...
//   %40 d.w = conv.wgrad(%39, %9)               and so does this one
//
// The batch norm's gradient needs z in any case, so y is 4 bytes an element for
// nothing.  A node is inlined where
//
//   - its operator says how it is computed on load (Part.load);
//   - all that read its result can do so: their slots are marked ~;
//   - what it reads that would end before the last of these readers, and now
//     lives on, takes fewer bytes than its result;
//   - it reads one map at most that has as many elements as its result;
//   - it is the last of few: each reader computes all of them again.
//
// Chains are inlined link by link: swish(batchnorm(z)) is read from z.  What
// is read from two maps (a residual sum) stays: to read both is traffic, and
// what computes it again at a price is another pass's affair.
#include "pass.h"
#include "../ir/plan.h"

void pass_fuse_load(Graph *g);

// Nodes that are computed one from another on load.  Signs that another pass
// keeps may add as many, and no more than MOST_ON_LOAD are allowed.
enum { LONGEST = MOST_ON_LOAD / 2 };

typedef struct Loading {
    Graph  *g;
    Uses    uses;
} Loading;

// Whether every reader of v can compute it as it loads.
static bool all_load(const Loading *l, ValueId v)
{
    const Graph *g = l->g;
    for (int32_t i = l->uses.start[v]; i < l->uses.start[v + 1]; i++) {
        const Node *n = &g->nodes[l->uses.list[i]];
        Slot slot[MAX_SLOTS];
        int slots = part_slots(part_operands(n->op, n->part), slot, MAX_SLOTS);
        for (int32_t k = 0; k < n->operand_count; k++)
            if (n->operands[k] == v && !slot_at(slot, slots, k)->loads)
                return false;
    }
    return true;
}

// The last launch to read v, through what is inlined.
static NodeId last_reader(const Loading *l, ValueId v)
{
    NodeId last = NONE;
    for (int32_t i = l->uses.start[v]; i < l->uses.start[v + 1]; i++) {
        NodeId reader = l->uses.list[i];
        const Node *n = &l->g->nodes[reader];
        if (n->inlined) reader = last_reader(l, n->results[0]);
        if (reader > last) last = reader;
    }
    return last;
}

// Whether v is there anyway when node `until` runs, n apart: persistent, or
// read by a later launch.
static bool is_there(const Loading *l, ValueId v, NodeId n, NodeId until)
{
    const Graph *g = l->g;
    if (g->values[v].persistent || g->values[v].output) return true;
    for (int32_t i = l->uses.start[v]; i < l->uses.start[v + 1]; i++) {
        NodeId reader = l->uses.list[i];
        if (reader == n) continue;
        if (g->nodes[reader].inlined)
            reader = last_reader(l, g->nodes[reader].results[0]);
        if (reader >= until) return true;
    }
    return false;
}

// What is read where a result is, in place of it.
typedef struct Price {
    int64_t bytes;              // that live on for it
    int     maps;               // with as many elements
} Price;

// Of what node i reads, through operands that are inlined themselves.
static void add_price(const Loading *l, NodeId i, NodeId until,
                      int64_t count, Price *price)
{
    const Graph *g = l->g;
    const Node *n = &g->nodes[i];
    for (int32_t k = 0; k < n->operand_count; k++) {
        ValueId v = n->operands[k];
        if (v == NONE) continue;
        if (!is_stored(g, v)) {
            add_price(l, g->values[v].def, until, count, price);
            continue;
        }
        if (elements(g->values[v].shape) >= count) price->maps++;
        if (!is_there(l, v, i, until))
            price->bytes += padded(value_bytes(&g->values[v]));
    }
}

static bool may_inline(const Loading *l, NodeId i)
{
    const Graph *g = l->g;
    const Node *n = &g->nodes[i];
    if (n->inlined || n->op->flags & VIEW ||
        nodes_on_load(g, n, LONGEST) > LONGEST || !can_load(g, n))
        return false;
    ValueId v = n->results[0];
    if (g->values[v].output || l->uses.start[v] == l->uses.start[v + 1])
        return false;
    NodeId until = last_reader(l, v);
    if (!all_load(l, v)) return false;
    Price price = {.bytes = 0};
    add_price(l, i, until, elements(g->values[v].shape), &price);
    return price.maps <= 1 && price.bytes < value_bytes(&g->values[v]);
}

void pass_fuse_load(Graph *g)
{
    Loading l = {.g = g, .uses = graph_uses(g)};
    for (NodeId i = 0; i < g->node_count; i++)
        if (may_inline(&l, i)) g->nodes[i].inlined = true;
}
