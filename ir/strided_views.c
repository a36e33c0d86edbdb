// Elided copies, whose values are strided views.
//
//   %9 c = concat(%7 a, %8 b) axis=3 in_place      a and b alias parts of c
//   %20 d.a = concat.grad(%19 d.c, -) in_place     d.a aliases a part of d.c
//
// Nothing is copied.  The launch that makes a writes its channels of c, row by
// row.  The launch that reads d.a reads those of d.c.  Chains of such aliases
// may be of any length and contain views.
#include "dtype.h"
#include "strided_views.h"

static void join(const Graph *g, const Node *n, Within *within)
{
    const Kernel *kernel = &n->op->kernels[n->kernel];
    for (int32_t k = 0; k < n->operand_count && kernel->slice; k++) {
        if (k > 0 && !kernel->joins) return;
        ValueId in = kernel->joins ? n->results[0] : n->operands[k];
        ValueId v = kernel->joins ? n->operands[k] : n->results[0];
        Slice slice = kernel->slice(g, n, k);
        int64_t start = slice.start * dtype_bytes(g->values[v].dtype);
        within[v] = (Within){ in, start, slice.rows };
    }
}

Within *values_within(const Graph *g, const Node *nodes, int32_t count)
{
    Within *within = NEW_ARRAY(g->arena, g->value_count, Within);
    for (ValueId v = 0; v < g->value_count; v++)
        within[v] = (Within){ .whole = NONE };
    for (int32_t i = 0; i < count; i++) {
        const Node *n = &nodes[i];
        if (n->op->flags & VIEW)
            within[n->results[0]] = (Within){ .whole = n->operands[0] };
        else if (n->in_place)
            join(g, n, within);
    }
    return within;
}

static Sliceable eligible(const Graph *g, ValueId v)
{
    const Value *value = &g->values[v];
    if (value->def == NONE || value->persistent || value->output ||
        value->output_number != 0 || !is_stored(g, v))
        return NO_SLICE;
    return has_reals(value) ? OF_ROWS : OF_ONE_ROW;
}

static void meet(Sliceable *may, const Node *n, ValueId v)
{
    if (v != NONE && may[v] == OF_ROWS && !takes_slice(n, v))
        may[v] = OF_ONE_ROW;
}

Sliceable *values_sliceable(const Graph *g, const Node *nodes, int32_t count)
{
    Sliceable *may = NEW_ARRAY(g->arena, g->value_count, Sliceable);
    for (ValueId v = 0; v < g->value_count; v++) may[v] = eligible(g, v);
    for (int32_t i = 0; i < count; i++) {
        const Node *n = &nodes[i];
        if (n->op->flags & VIEW || n->in_place) continue;
        for (int32_t k = 0; k < n->operand_count; k++)
            meet(may, n, n->operands[k]);
        for (int32_t r = 0; r < n->result_count; r++)
            meet(may, n, n->results[r]);
    }
    return may;
}

// Adds the starts of all links, which are in bytes of the root's rows.
Columns value_columns(const Graph *g, ValueId v)
{
    const Value *value = &g->values[v];
    int64_t begin = 0;
    if (value->view_rows == 0) return (Columns){ 0, INT64_MAX };
    for (ValueId k = v; g->values[k].alias_of != NONE;
         k = g->values[k].alias_of)
        begin += g->values[k].start;
    return (Columns){ begin, begin + value_bytes(value) / value->view_rows };
}
