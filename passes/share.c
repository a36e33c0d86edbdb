// Share: which values lie in the bytes of another.
//
//   flat = flatten pool2        flat  alias_of pool2, view
//   relu1 = relu conv1          relu1 alias_of conv1, where conv1 ends here
//
// A view is another name for its operand.  A result is written over an operand
// if the operator says that its kernel reads each element before it writes it
// (may_write_over), both have the same bytes and elements of the same size, and
// nothing that lies in those bytes is persistent, an output, or read later.
// The node may read those bytes under several names only if it may write over
// each of them, and gives them to one result at most.
//
// What lies in the same bytes is one class, found by union and find.  A class
// lives from its first value to its last, and dies once: when the node that
// reads it last writes over it, its life goes on in the result.  The life of
// the value at the end of the chain of aliases is widened to that of its class.
#include "pass.h"

void pass_share(Graph *g);
void share_views(Graph *g);

// Classes of values; what is said of one holds at the value that find returns.
typedef struct Classes {
    int32_t *parent;
    int32_t *first, *last;      // of all in the class
    bool    *kept;              // persistent or an output
} Classes;

static int32_t find(Classes *classes, ValueId v)
{
    while (classes->parent[v] != v) {
        classes->parent[v] = classes->parent[classes->parent[v]];
        v = classes->parent[v];
    }
    return v;
}

static void unite(Classes *classes, ValueId result, ValueId operand)
{
    int32_t from = find(classes, result), to = find(classes, operand);
    if (from == to) return;
    classes->parent[from] = to;
    if (classes->first[from] < classes->first[to])
        classes->first[to] = classes->first[from];
    if (classes->last[from] > classes->last[to])
        classes->last[to] = classes->last[from];
    classes->kept[to] |= classes->kept[from];
}

static bool is_view(const Node *n)
{
    return n->op->flags & VIEW;
}

static Classes name_views(Graph *g)
{
    Classes classes = {
        .parent = NEW_ARRAY(g->arena, g->value_count, int32_t),
        .first = NEW_ARRAY(g->arena, g->value_count, int32_t),
        .last = NEW_ARRAY(g->arena, g->value_count, int32_t),
        .kept = NEW_ARRAY(g->arena, g->value_count, bool),
    };
    for (ValueId v = 0; v < g->value_count; v++) {
        Value *value = &g->values[v];
        value->alias_of = NONE;
        value->view = false;
        classes.parent[v] = v;
        classes.first[v] = value->first;
        classes.last[v] = value->last;
        classes.kept[v] = value->persistent || value->output;
    }
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (!is_view(n)) continue;
        g->values[n->results[0]].alias_of = n->operands[0];
        g->values[n->results[0]].view = true;
        unite(&classes, n->results[0], n->operands[0]);
    }
    return classes;
}

// Whether a result of n already lies in this class.
static bool is_taken(Classes *classes, const Node *n, int32_t class)
{
    for (int32_t r = 0; r < n->result_count; r++)
        if (n->results[r] != NONE && find(classes, n->results[r]) == class)
            return true;
    return false;
}

// Whether n reads this class to compute an operand on load: not element by
// element, then.
static bool loads_from(const Graph *g, Classes *classes, const Node *n,
                       int32_t class)
{
    for (int32_t k = 0; k < n->operand_count; k++) {
        if (n->operands[k] == NONE || is_stored(g, n->operands[k])) continue;
        const Node *maker = &g->nodes[g->values[n->operands[k]].def];
        for (int32_t j = 0; j < maker->operand_count; j++)
            if (maker->operands[j] != NONE &&
                find(classes, maker->operands[j]) == class)
                return true;
        if (loads_from(g, classes, maker, class)) return true;
    }
    return false;
}

// Whether result r of node i may lie in the bytes of operand k.
static bool fits(const Graph *g, Classes *classes, NodeId i, int r, int k)
{
    const Node *n = &g->nodes[i];
    if (n->operands[k] == NONE) return false;
    const Value *result = &g->values[n->results[r]];
    const Value *operand = &g->values[n->operands[k]];
    if (value_bytes(result) != value_bytes(operand)) return false;
    if (dtype_bytes(result->dtype) != dtype_bytes(operand->dtype)) return false;
    int32_t class = find(classes, n->operands[k]);
    if (classes->kept[class] || classes->last[class] != i) return false;
    if (is_taken(classes, n, class) || !may_write_over(n, r, k)) return false;
    for (int32_t j = 0; j < n->operand_count; j++)
        if (n->operands[j] != NONE && !may_write_over(n, r, j) &&
            find(classes, n->operands[j]) == class)
            return false;
    return !loads_from(g, classes, n, class);
}

static void write_over(Graph *g, Classes *classes, NodeId i, int r)
{
    const Node *n = &g->nodes[i];
    if (n->results[r] == NONE) return;
    for (int32_t k = 0; k < n->operand_count; k++) {
        if (!fits(g, classes, i, r, k)) continue;
        g->values[n->results[r]].alias_of = n->operands[k];
        unite(classes, n->results[r], n->operands[k]);
        return;
    }
}

// Chains of aliases end at the value that has the bytes: it lives as long as
// any that lies in it.
static void widen_roots(Graph *g, Classes *classes)
{
    for (ValueId v = 0; v < g->value_count; v++) {
        Value *value = &g->values[v];
        if (value->alias_of != NONE) continue;
        value->first = classes->first[find(classes, v)];
        value->last = classes->last[find(classes, v)];
    }
}

void pass_share(Graph *g)
{
    Classes classes = name_views(g);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (!is_launch(n)) continue;
        for (int32_t r = 0; r < n->result_count; r++)
            write_over(g, &classes, i, r);
    }
    widen_roots(g, &classes);
}

// What stands in when the pass is left out: views alone.
void share_views(Graph *g)
{
    Classes classes = name_views(g);
    widen_roots(g, &classes);
}
