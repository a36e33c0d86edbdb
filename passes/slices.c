// Slices: copies between a value and a larger one that need not be made.
//
//   %7 a = conv(...)    %8 b = conv(...)    %9 c = concat(a, b) axis=3
//   %20 d.a = concat.grad(%19 d.c, -)
// becomes
//   %9 c = concat(a, b) axis=3 in_place     a and b are written into c
//   %20 d.a = concat.grad(%19 d.c, -) in_place      d.a is read out of d.c
//
// An operator says of a launch that only copies how the one value lies in the
// other (Part.slice).  It is left out where everything that reads or makes the
// smaller one can take a slice of a larger array, as its operator marks it.
// Those that are joined must be in nothing else, and no input, output or
// parameter.  A joined value may be joined again, and a slice be sliced, as
// long as all slices of one array have the same rows.
//
// No values or nodes come or go: what is in place is marked, and is a name from
// here on, as views are.
#include "../ir/slices.h"
#include "pass.h"

void pass_slices(Graph *g);

// Trees of values that lie in each other; what is said of one holds at its
// root.
typedef struct Trees {
    Graph   *g;
    ValueId *parent;            // NONE: it lies in nothing
    bool    *may;               // all of them may be slices
    int64_t *rows;              // of the slices among them; 0: there are none
} Trees;

static ValueId root_of(const Trees *t, ValueId v)
{
    while (t->parent[v] != NONE) v = t->parent[v];
    return v;
}

static void put(Trees *t, ValueId part, ValueId whole, int64_t rows)
{
    ValueId root = root_of(t, whole);
    t->parent[part] = whole;
    t->may[root] &= t->may[part];
    if (rows > 0) t->rows[root] = rows;
}

static Trees name_views(Graph *g)
{
    Within *within = values_within(g, g->nodes, g->node_count);
    Trees t = {.g = g, .parent = NEW_ARRAY(g->arena, g->value_count, ValueId),
               .may = values_sliceable(g, g->nodes, g->node_count),
               .rows = NEW_ARRAY(g->arena, g->value_count, int64_t)};
    for (ValueId v = 0; v < g->value_count; v++) t.parent[v] = NONE;
    for (ValueId v = 0; v < g->value_count; v++)
        if (within[v].whole != NONE)
            put(&t, v, within[v].whole, within[v].rows);
    return t;
}

// Inputs are staged, and state is laid out, for others to see.
static bool may_hold(const Value *root)
{
    return root->kind == PARAM || (root->def != NONE && !root->persistent);
}

// Whether part, with all that lies in it, may lie in whole as a slice of these
// rows.
static bool fits(const Trees *t, ValueId part, ValueId whole, int64_t rows)
{
    ValueId root = root_of(t, whole);
    return t->parent[part] == NONE && part != root && t->may[part] &&
           is_stored(t->g, whole) && may_hold(&t->g->values[root]) &&
           (t->rows[part] == 0 || t->rows[part] == rows) &&
           (t->rows[root] == 0 || t->rows[root] == rows);
}

static bool only_copies(const Node *n)
{
    const Part *part = &n->op->parts[n->part];
    if (!part->slice || n->inlined || n->act || n->result_count != 1)
        return false;
    for (int32_t k = part->joins ? 0 : 1; k < n->operand_count; k++)
        if ((n->operands[k] == NONE) == part->joins) return false;
    return true;
}

static bool is_joined_once(const Node *n, int32_t k)
{
    for (int32_t j = 0; j < k; j++)
        if (n->operands[j] == n->operands[k]) return false;
    return true;
}

static bool all_fit(const Trees *t, const Node *n)
{
    const Part *part = &n->op->parts[n->part];
    int64_t rows = part->slice(t->g, n, 0).rows;
    if (!part->joins) return fits(t, n->results[0], n->operands[0], rows);
    for (int32_t k = 0; k < n->operand_count; k++)
        if (!is_joined_once(n, k) ||
            !fits(t, n->operands[k], n->results[0], rows) ||
            (t->rows[n->operands[k]] != 0 &&
             t->rows[n->operands[k]] != rows))
            return false;
    return true;
}

void pass_slices(Graph *g)
{
    Trees t = name_views(g);
    for (NodeId i = 0; i < g->node_count; i++) {
        Node *n = &g->nodes[i];
        const Part *part = &n->op->parts[n->part];
        if (!only_copies(n) || !all_fit(&t, n)) continue;
        n->in_place = true;
        int64_t rows = part->slice(g, n, 0).rows;
        if (!part->joins) put(&t, n->results[0], n->operands[0], rows);
        for (int32_t k = 0; k < n->operand_count && part->joins; k++)
            put(&t, n->operands[k], n->results[0], rows);
    }
}
