// elide_copies: removes copies between a value and a larger one.
//
//   %7 a = conv(...)    %8 b = conv(...)    %9 c = concat(a, b) axis=3
//   %20 d.a = concat.grad(%19 d.c, -)
// becomes
//   %9 c = concat(a, b) axis=3 in_place     a and b are written into c
//   %20 d.a = concat.grad(%19 d.c, -) in_place      d.a is read out of d.c
//
// The operator of a pure copy gives the position of the smaller value in the
// larger one (Kernel.slice).  The copy is elided if, by its operator's marks,
// every node that reads or makes the smaller value can take a strided view.  A
// joined value must not alias another value already, nor be an input, output or
// parameter.  Joins and slices may nest if all slices of one array have the
// same rows.  An array lives as long as any value in it, so a copy stays if
// eliding it would raise the peak of the graph's order.
//
// The pass adds and deletes no values or nodes.  It marks elided copies
// in_place; later passes treat them like views.
#include "../ir/gpu/precision.h"
#include "../ir/strided_views.h"
#include "pass.h"

// Trees of values that alias each other.  The fields of a root describe its
// whole tree.
typedef struct Trees {
    Graph   *g;
    ValueId *parent;            // NONE: a root
    Sliceable *may;             // the slices that every value of the tree may
                                // be
    int64_t *rows;              // of the slices in the tree; 0: there are none
    NodeId  *first, *last;      // first and last launch that touches the tree;
                                // NONE: none
    int64_t *more, *most;       // live bytes: see change()
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

// Adds bytes at launches first to last.  The launches are the leaves of a
// binary tree.  t->more[k] applies to all leaves below node k.  t->most[k] is
// the maximum of live bytes below it, including more[k].  The peak is most[1].
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

// Adds (sign 1) or removes (sign -1) a tree's bytes, from the first launch that
// touches a value in it to the last.  Persistent values are left out: their
// bytes are the same in all plans.
static void count_bytes(Trees *t, ValueId root, int sign)
{
    const Value *value = &t->g->values[root];
    if (t->first[root] == NONE || value->persistent) return;
    change(t, 1, 0, t->g->node_count - 1, t->first[root], t->last[root],
           sign * padded(value_bytes(value)));
}

// ---- aliases ----------------------------------------------------------------

// Makes part, a root, an alias in the tree of whole.
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

// True if root may hold slices: the caller sees the layout of inputs and state,
// so an input holds only contiguous slices.
static bool may_hold(const Value *root, int64_t rows)
{
    bool is_staged = root->kind == INPUT && !root->persistent;
    return root->kind == PARAM || (is_staged && rows == 1) ||
           (root->def != NONE && !root->persistent);
}

// True if part, with all values in it, may be a slice of whole with these rows.
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

// True if a slice of one row starts at an address that kernels may read several
// elements from at once.  Products of integers read four at once from any row.
static bool is_aligned(const Trees *t, const Node *n, int32_t k)
{
    const Kernel *kernel = &n->op->kernels[n->kernel];
    const Value *values = t->g->values;
    Slice slice = kernel->slice(t->g, n, k);
    const Value *joined = &values[n->results[0]];
    const Value *other = &values[n->operands[k]];
    if (slice.rows == 1)
        return slice.start * dtype_bytes(joined->dtype) % ROW_ALIGNMENT == 0;
    return joined->scale == NONE ||
           (slice.start % INTEGERS_AT_ONCE == 0 &&
            elements(joined->shape) / slice.rows % INTEGERS_AT_ONCE == 0 &&
            elements(other->shape) / slice.rows % INTEGERS_AT_ONCE == 0);
}

// True if a later launch reads the slice.  Otherwise this copy may be the only
// reader of the whole value, and eliding it would leave none.
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

// True if a copy slices the batch.  It is elided whatever the peak: its slices
// are made or read one after the other, and a budget asked for them.
static bool is_of_samples(const Graph *g, const Node *n)
{
    return g->values[n->operands[0]].shape.dim[0] !=
           g->values[n->results[0]].shape.dim[0];
}

// Elides the copy n unless the peak grows; then restores all trees.
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
