// elide_copies: copies between a value and a larger one that need not be made.
//
//   %7 a = conv(...)    %8 b = conv(...)    %9 c = concat(a, b) axis=3
//   %20 d.a = concat.grad(%19 d.c, -)
// becomes
//   %9 c = concat(a, b) axis=3 in_place     a and b are written into c
//   %20 d.a = concat.grad(%19 d.c, -) in_place      d.a is read out of d.c
//
// An operator says of a launch that only copies how the one value lies in the
// other (Kernel.slice).  It is left out where everything that reads or makes
// the smaller one can take a slice of a larger array, as its operator marks it.
// Those that are joined must be in nothing else, and no input, output or
// parameter.  A joined value may be joined again, and a slice be sliced, as
// long as all slices of one array have the same rows.  An array lives as long
// as anything in it, so a copy is kept where the bytes alive at once, in the
// order that the graph has, would be more without it.
//
// No values or nodes come or go: what is in place is marked, and is a name from
// here on, as views are.
#include "../ir/strided_views.h"
#include "pass.h"

// Trees of values that lie in each other; what is said of one holds at its
// root.
typedef struct Trees {
    Graph   *g;
    ValueId *parent;            // NONE: it lies in nothing
    Sliceable *may;             // what all of them may be slices of
    int64_t *rows;              // of the slices among them; 0: there are none
    NodeId  *first, *last;      // launches that touch any of them; NONE: no one
    int64_t *more, *most;       // bytes alive, as below
} Trees;

static ValueId root_of(const Trees *t, ValueId v)
{
    while (t->parent[v] != NONE) v = t->parent[v];
    return v;
}

// ---- bytes alive ------------------------------------------------------------

static void touch(Trees *t, ValueId v, NodeId i)
{
    if (v == NONE || i == NONE) return;
    if (t->first[v] == NONE || i < t->first[v]) t->first[v] = i;
    if (i > t->last[v]) t->last[v] = i;
}

static void find_touches(Trees *t)
{
    const Graph *g = t->g;
    t->first = NEW_ARRAY(g->arena, g->value_count, NodeId);
    t->last = NEW_ARRAY(g->arena, g->value_count, NodeId);
    for (ValueId v = 0; v < g->value_count; v++)
        t->first[v] = t->last[v] = NONE;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        ValueId reads[MAX_READS];
        if (!is_launch(n)) continue;
        for (int k = node_reads(g, n, reads) - 1; k >= 0; k--)
            touch(t, reads[k], i);
        for (int32_t r = 0; r < n->result_count; r++)
            touch(t, n->results[r], i);
    }
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].output) touch(t, v, g->node_count - 1);
}

// Bytes alive at each launch are leaves of a binary tree over the nodes: node k
// of it has `more` for all below it and `most`, the largest sum below it, that
// included.  The largest of all is at 1.
static void change(Trees *t, int32_t k, NodeId low, NodeId high, NodeId first,
                   NodeId last, int64_t bytes)
{
    if (last < low || high < first) return;
    if (first <= low && high <= last) {
        t->more[k] += bytes;
        t->most[k] += bytes;
        return;
    }
    NodeId middle = low + (high - low) / 2;
    change(t, 2 * k, low, middle, first, last, bytes);
    change(t, 2 * k + 1, middle + 1, high, first, last, bytes);
    int64_t a = t->most[2 * k], b = t->most[2 * k + 1];
    t->most[k] = t->more[k] + (a > b ? a : b);
}

// A tree is alive from the first launch that touches any value in it to the
// last; what lasts is the same however the rest lies.  sign: 1 or -1, whether
// it comes or goes.
static void count_bytes(Trees *t, ValueId root, int sign)
{
    const Value *value = &t->g->values[root];
    if (t->first[root] == NONE || value->persistent) return;
    change(t, 1, 0, t->g->node_count - 1, t->first[root], t->last[root],
           sign * padded(value_bytes(value)));
}

// ---- what lies in what ------------------------------------------------------

// Puts a root into another tree.
static void put(Trees *t, ValueId part, ValueId whole, int64_t rows)
{
    ValueId root = root_of(t, whole);
    count_bytes(t, part, -1);
    count_bytes(t, root, -1);
    t->parent[part] = whole;
    if (t->may[part] < t->may[root]) t->may[root] = t->may[part];
    if (rows > 0) t->rows[root] = rows;
    touch(t, root, t->first[part]);
    touch(t, root, t->last[part]);
    count_bytes(t, root, 1);
}

static Trees name_views(Graph *g)
{
    Within *within = values_within(g, g->nodes, g->node_count);
    size_t tree = 4 * (size_t)g->node_count;
    Trees t = {.g = g, .parent = NEW_ARRAY(g->arena, g->value_count, ValueId),
               .may = values_sliceable(g, g->nodes, g->node_count),
               .rows = NEW_ARRAY(g->arena, g->value_count, int64_t),
               .more = NEW_ARRAY(g->arena, tree, int64_t),
               .most = NEW_ARRAY(g->arena, tree, int64_t)};
    find_touches(&t);
    for (ValueId v = 0; v < g->value_count; v++) {
        t.parent[v] = NONE;
        count_bytes(&t, v, 1);
    }
    for (ValueId v = 0; v < g->value_count; v++)
        if (within[v].whole != NONE)
            put(&t, v, within[v].whole, within[v].rows);
    return t;
}

// Inputs are staged, and state is laid out, for others to see: in rows.
static bool may_hold(const Value *root, int64_t rows)
{
    return root->kind == PARAM || (root->kind == INPUT && rows == 1) ||
           (root->def != NONE && !root->persistent);
}

// Whether part, with all that lies in it, may lie in whole as a slice of these
// rows.
static bool fits(const Trees *t, ValueId part, ValueId whole, int64_t rows)
{
    ValueId root = root_of(t, whole);
    return t->parent[part] == NONE && part != root &&
           t->g->values[part].dtype == t->g->values[whole].dtype &&
           may_have_rows(t->may[part], rows) && is_stored(t->g, whole) &&
           may_hold(&t->g->values[root], rows) &&
           (t->rows[part] == 0 || t->rows[part] == rows) &&
           (t->rows[root] == 0 || t->rows[root] == rows);
}

static bool only_copies(const Node *n)
{
    const Kernel *kernel = &n->op->kernels[n->kernel];
    if (!kernel->slice || n->fused_load || n->act || n->result_count != 1)
        return false;
    for (int32_t k = kernel->joins ? 0 : 1; k < n->operand_count; k++)
        if ((n->operands[k] == NONE) == kernel->joins) return false;
    return true;
}

static bool is_joined_once(const Node *n, int32_t k)
{
    for (int32_t j = 0; j < k; j++)
        if (n->operands[j] == n->operands[k]) return false;
    return true;
}

// A row alone begins where kernels may read several elements at once.
static bool is_aligned(const Trees *t, const Node *n, int32_t k)
{
    Slice slice = n->op->kernels[n->kernel].slice(t->g, n, k);
    int64_t size = dtype_bytes(t->g->values[n->results[0]].dtype);
    return slice.rows > 1 || slice.start * size % ROW_ALIGNMENT == 0;
}

// Nobody would be left to read the whole, if this is all that does, where a
// slice without readers were no launch.
static bool is_read(const Trees *t, ValueId part)
{
    return t->last[part] > t->first[part];
}

static bool all_fit(const Trees *t, const Node *n)
{
    const Kernel *kernel = &n->op->kernels[n->kernel];
    int64_t rows = kernel->slice(t->g, n, 0).rows;
    if (!kernel->joins)
        return is_aligned(t, n, 0) && is_read(t, n->results[0]) &&
               fits(t, n->results[0], n->operands[0], rows);
    for (int32_t k = 0; k < n->operand_count; k++)
        if (!is_joined_once(n, k) || !is_aligned(t, n, k) ||
            !fits(t, n->operands[k], n->results[0], rows) ||
            (t->rows[n->operands[k]] != 0 &&
             t->rows[n->operands[k]] != rows))
            return false;
    return true;
}

static int parts_of(const Node *n)
{
    return n->op->kernels[n->kernel].joins ? n->operand_count : 1;
}

static ValueId part_of(const Node *n, int k)
{
    return n->op->kernels[n->kernel].joins ? n->operands[k] : n->results[0];
}

// Whether a copy is of slices of the batch.  These are put whatever is alive
// meanwhile: all of them come to be, or are read, one after the other, and a
// budget has asked for them.
static bool is_of_samples(const Graph *g, const Node *n)
{
    return g->values[n->operands[0]].shape.dim[0] !=
           g->values[n->results[0]].shape.dim[0];
}

// Puts the values of a copy into each other, if that costs nothing.
static bool is_put(Trees *t, const Node *n)
{
    const Kernel *kernel = &n->op->kernels[n->kernel];
    ValueId whole = kernel->joins ? n->results[0] : n->operands[0];
    ValueId root = root_of(t, whole);
    Sliceable may = t->may[root];
    int64_t rows = t->rows[root], peak = t->most[1];
    NodeId first = t->first[root], last = t->last[root];
    for (int k = 0; k < parts_of(n); k++)
        put(t, part_of(n, k), whole, kernel->slice(t->g, n, 0).rows);
    if (t->most[1] <= peak || is_of_samples(t->g, n)) return true;

    count_bytes(t, root, -1);
    t->may[root] = may;
    t->rows[root] = rows;
    t->first[root] = first;
    t->last[root] = last;
    count_bytes(t, root, 1);
    for (int k = 0; k < parts_of(n); k++) {
        t->parent[part_of(n, k)] = NONE;
        count_bytes(t, part_of(n, k), 1);
    }
    return false;
}

void pass_elide_copies(Graph *g, const PassOptions *o)
{
    (void)o;
    if (g->node_count == 0) return;
    Trees t = name_views(g);
    for (NodeId i = 0; i < g->node_count; i++) {
        Node *n = &g->nodes[i];
        if (only_copies(n) && all_fit(&t, n) && is_put(&t, n))
            n->in_place = true;
    }
}
