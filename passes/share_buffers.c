// share_buffers: decides which values share bytes.
//
//   flat = flatten pool2        flat  alias_of pool2, view
//   relu1 = relu conv1          relu1 alias_of conv1, where conv1 ends here
//
// A view aliases its operand.  A result may overwrite an operand, or a value
// that an operand is computed from on load, under three conditions.  The
// operators allow it because each element is read before it is written
// (may_lie_over).  Both have the same bytes and elements of one size.  And no
// value in those bytes is persistent, an output, or read later.  The node may
// read the bytes under several names only if it may overwrite each, and only
// one result goes there.
//
// Values that share bytes form a class, kept by union-find.  A class lives from
// its first value to its last.  When its last reader overwrites it, its life
// continues in the result.  The root of a chain of aliases gets the life of its
// class.
//
// In a class with slices, columns of the root's rows die.  A result may
// overwrite a slice if no value in those columns is read later.  The result
// becomes a slice, and so do its aliases.  This is not done if it alone would
// keep the rest of the root alive.  A gradient may also overwrite the dead
// slice it is the gradient of, since those columns have no other use.
#include "../ir/strided_views.h"
#include "order/live_model.h"
#include "pass.h"

// Classes of values; the fields at find()'s result describe the class.
typedef struct Classes {
    int32_t *parent;
    int32_t *first, *last;      // of all in the class
    bool    *kept;              // persistent or an output
    int64_t *rows;              // of the slices in it; 0: there are none
    ValueId *newest, *oldest;   // the values of the class, as a list
    ValueId *before;            // of a value: the next older, or NONE
    Sliceable *may;             // of a value: the slices that it may be
    Columns *columns;           // of a value, from value_columns()
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
    if (classes->rows[from] > 0) classes->rows[to] = classes->rows[from];
    classes->before[classes->oldest[from]] = classes->newest[to];
    classes->newest[to] = classes->newest[from];
}

static Classes new_classes(Graph *g)
{
    Classes classes = {
        .parent = NEW_ARRAY(g->arena, g->value_count, int32_t),
        .first = NEW_ARRAY(g->arena, g->value_count, int32_t),
        .last = NEW_ARRAY(g->arena, g->value_count, int32_t),
        .kept = NEW_ARRAY(g->arena, g->value_count, bool),
        .rows = NEW_ARRAY(g->arena, g->value_count, int64_t),
        .newest = NEW_ARRAY(g->arena, g->value_count, ValueId),
        .oldest = NEW_ARRAY(g->arena, g->value_count, ValueId),
        .before = NEW_ARRAY(g->arena, g->value_count, ValueId),
        .may = values_sliceable(g, g->nodes, g->node_count),
        .columns = NEW_ARRAY(g->arena, g->value_count, Columns),
    };
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        classes.parent[v] = classes.newest[v] = classes.oldest[v] = v;
        classes.before[v] = NONE;
        classes.first[v] = value->first;
        classes.last[v] = value->last;
        classes.kept[v] = value->persistent || value->output;
    }
    return classes;
}

// Sets a slice's rows: those of any link of its chain of aliases that is a
// slice.
static void find_rows(Graph *g, Classes *classes, const Within *within,
                      ValueId v)
{
    Value *value = &g->values[v];
    ValueId root = v;
    for (; within[root].whole != NONE; root = within[root].whole)
        if (within[root].rows > 0) value->view_rows = within[root].rows;
    if (value->view_rows == 0) return;
    value->view_stride = value_bytes(&g->values[root]) / value->view_rows;
    classes->rows[find(classes, v)] = value->view_rows;
}

static Classes name_views(Graph *g)
{
    const Within *within = values_within(g, g->nodes, g->node_count);
    Classes classes = new_classes(g);
    for (ValueId v = 0; v < g->value_count; v++) {
        Value *value = &g->values[v];
        value->alias_of = within[v].whole;
        value->view = within[v].whole != NONE;
        value->start = within[v].start;
        value->view_rows = value->view_stride = 0;
        if (value->view) unite(&classes, v, within[v].whole);
    }
    for (ValueId v = 0; v < g->value_count; v++) {
        find_rows(g, &classes, within, v);
        classes.columns[v] = value_columns(g, v);
    }
    return classes;
}

// True if a result of n already is in this class.
static bool is_taken(Classes *classes, const Node *n, int32_t class)
{
    for (int32_t r = 0; r < n->result_count; r++)
        if (n->results[r] != NONE && find(classes, n->results[r]) == class)
            return true;
    return false;
}

// True if n reads this class to compute an operand on load.
static bool loads_from(const Graph *g, Classes *classes, const Node *n,
                       int32_t class)
{
    ValueId loads[MAX_READS];
    for (int k = node_loads(g, n, loads) - 1; k >= 0; k--)
        if (find(classes, loads[k]) == class) return true;
    return false;
}

// True if result r of node i may overwrite `old`, one value of the class that
// it would join.
static bool may_replace(const Graph *g, const Classes *classes, NodeId i, int r,
                        ValueId old, Columns columns)
{
    const Node *n = &g->nodes[i];
    const Value *value = &g->values[old];
    Columns own = classes->columns[old];
    if (!columns_meet(own, columns)) return true;
    if (value->persistent || value->output || value->last > i ||
        value->def == i)
        return false;
    for (int32_t j = 0; j < n->operand_count; j++)
        if (n->operands[j] == old &&
            (!may_write_over(n, r, j) || own.begin != columns.begin ||
             own.end != columns.end))
            return false;
    return true;
}

// Same check as fits(), for classes with slices.  Values that are loaded from
// are not overwritten.
static bool fits_columns(const Graph *g, Classes *classes, NodeId i, int r,
                         ValueId x)
{
    const Node *n = &g->nodes[i];
    int32_t class = find(classes, x), own = find(classes, n->results[r]);
    int64_t rows = classes->rows[class];
    bool sliced = g->values[x].view_rows > 0;
    if (rows > 0 && classes->rows[own] > 0 && classes->rows[own] != rows)
        return false;
    for (ValueId v = classes->newest[own]; v != NONE; v = classes->before[v])
        if (sliced && !may_have_rows(classes->may[v], rows)) return false;
    Columns columns = classes->columns[x];
    for (ValueId v = classes->newest[class]; v != NONE; v = classes->before[v])
        if (!may_replace(g, classes, i, r, v, columns)) return false;
    return !loads_from(g, classes, n, class) &&
           (!sliced || classes->last[class] > i);
}

// True if result r of node i may share the bytes of reads[k], one of count
// values that i reads.
static bool fits(const Graph *g, Classes *classes, NodeId i, int r,
                 const ValueId *reads, int count, int k)
{
    const Node *n = &g->nodes[i];
    if (!fits_over(g, n, r, reads[k])) return false;
    int32_t class = find(classes, reads[k]);
    if (class == find(classes, n->results[r])) return false;
    if (classes->rows[class] > 0 ||
        classes->rows[find(classes, n->results[r])] > 0)
        return fits_columns(g, classes, i, r, reads[k]);
    if (classes->kept[class] || classes->last[class] != i) return false;
    if (is_taken(classes, n, class)) return false;
    for (int j = 0; j < count; j++)
        if (find(classes, reads[j]) == class &&
            !may_lie_over(g, n, r, reads[j]))
            return false;
    return true;
}

// True if result r of node i may overwrite the columns of the slice that it is
// the gradient of.  They are dead while the rest of the root is alive.
static bool fits_dead_slice(const Graph *g, Classes *classes, NodeId i, int r)
{
    ValueId v = g->nodes[i].results[r], x = g->values[v].gradient_of;
    if (x == NONE || !is_stored(g, x) || g->values[x].view_rows == 0 ||
        value_bytes(&g->values[x]) != value_bytes(&g->values[v]))
        return false;
    int32_t class = find(classes, x), own = find(classes, v);
    if (class == own || classes->last[class] < classes->last[own] ||
        (classes->rows[own] > 0 && classes->rows[own] != classes->rows[class]))
        return false;
    for (ValueId k = classes->newest[own]; k != NONE; k = classes->before[k])
        if (!may_have_rows(classes->may[k], g->values[x].view_rows))
            return false;
    Columns columns = classes->columns[x];
    for (ValueId k = classes->newest[class]; k != NONE;
         k = classes->before[k]) {
        const Value *value = &g->values[k];
        if (columns_meet(columns, classes->columns[k]) &&
            (value->persistent || value->output || value->last >= i))
            return false;
    }
    return true;
}

// Makes every value of a class a slice, if the value that it aliases is one.
static void slice_alike(Graph *g, Classes *classes, int32_t class,
                        const Value *slice)
{
    if (slice->view_rows == 0) return;
    for (ValueId v = classes->newest[class]; v != NONE;
         v = classes->before[v]) {
        g->values[v].view_rows = slice->view_rows;
        g->values[v].view_stride = slice->view_stride;
        classes->columns[v] = value_columns(g, v);
    }
}

static void put_over(Graph *g, Classes *classes, ValueId v, ValueId under)
{
    g->values[v].alias_of = under;
    slice_alike(g, classes, find(classes, v), &g->values[under]);
    unite(classes, v, under);
}

static void write_over(Graph *g, Classes *classes, NodeId i, int r)
{
    const Node *n = &g->nodes[i];
    ValueId reads[MAX_READS];
    if (n->results[r] == NONE || g->values[n->results[r]].alias_of != NONE)
        return;
    int count = node_reads(g, n, reads);
    for (int k = 0; k < count; k++) {
        if (!fits(g, classes, i, r, reads, count, k)) continue;
        put_over(g, classes, n->results[r], reads[k]);
        return;
    }
    if (fits_dead_slice(g, classes, i, r))
        put_over(g, classes, n->results[r],
                 g->values[n->results[r]].gradient_of);
}

// Gives the root of each chain of aliases, which has the bytes, the life of its
// class.
static void widen_roots(Graph *g, Classes *classes)
{
    for (ValueId v = 0; v < g->value_count; v++) {
        Value *value = &g->values[v];
        if (value->alias_of != NONE) continue;
        value->first = classes->first[find(classes, v)];
        value->last = classes->last[find(classes, v)];
    }
}

// Without the pass only views share bytes.
void pass_share_buffers(Graph *g, const PassOptions *o)
{
    Classes classes = name_views(g);
    for (NodeId i = 0; i < g->node_count && o->enabled[PASS_share_buffers];
         i++) {
        const Node *n = &g->nodes[i];
        if (!is_launch(n)) continue;
        for (int32_t r = 0; r < n->result_count; r++)
            write_over(g, &classes, i, r);
    }
    widen_roots(g, &classes);
}
