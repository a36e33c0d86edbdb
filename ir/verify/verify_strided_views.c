// Checks slices by columns: each value of the class has bytes begin .. end of
// every row of the root.  A write to columns may overwrite only values that are
// not read later, and operands of its own launch only if the operator permits
// it.
#include <inttypes.h>
#include "../strided_views.h"
#include "verify.h"

typedef struct Slices {
    const Check *c;
    const ValueId *root;
    const NodeId *last;         // that reads each value
    const Columns *columns;     // of each value
    ValueId *newest, *before;   // of each root: its values so far
} Slices;

// ---- names ------------------------------------------------------------------

static void check_name(const Check *c, ValueId v, Within within)
{
    const Value *value = &c->g->values[v];
    if (within.whole == NONE) {
        if (value->view)
            value_fault(c, v, "it is no view of %%%" PRId32, value->alias_of);
    } else if (value->alias_of != within.whole || !value->view ||
               value->start != within.start ||
               (within.rows > 0 && value->view_rows != within.rows)) {
        value_fault(c, v, "it does not alias %s as it should",
                    c->g->values[within.whole].name);
    }
}

// The rows of a slice are within those of the root, and equal to those of the
// root's other slices.
static void check_rows(const Check *c, ValueId v, ValueId root, int64_t *rows)
{
    const Value *value = &c->g->values[v];
    int64_t whole = value_bytes(&c->g->values[root]);
    if (value->view_rows == 0) return;
    if (value->alias_of == NONE || value->view_rows < 0 ||
        whole % value->view_rows != 0 ||
        value_bytes(value) % value->view_rows != 0 ||
        whole / value->view_rows != value->view_stride)
        value_fault(c, v, "it is no slice of %s", c->g->values[root].name);
    Columns columns = value_columns(c->g, v);
    if (columns.begin < 0 || columns.end > value->view_stride)
        value_fault(c, v, "its rows are not inside those of %s",
                    c->g->values[root].name);
    if (*rows != 0 && *rows != value->view_rows)
        value_fault(c, v, "other slices of %s have other rows",
                    c->g->values[root].name);
    *rows = value->view_rows;
}

// A copy in place is a pure copy by its operator's rule.
void check_in_place(const Check *c, NodeId id)
{
    const Node *n = &c->g->nodes[id];
    const Kernel *kernel = &n->op->kernels[n->kernel];

    if (!n->in_place) return;
    if (kernel->slice == NULL || n->fused_load || n->act != NULL ||
        n->result_count != 1)
        node_fault(c, id, "%s can't be in place", n->op->name);
    for (int k = kernel->joins ? 0 : 1; k < n->operand_count; k++)
        if ((n->operands[k] == NONE) == kernel->joins)
            node_fault(c, id, "%s can't be in place", n->op->name);
}

// ---- overwrites -------------------------------------------------------------

// Reports a fault if node i reads `old` and may not overwrite it with result r.
static void check_replaced(const Slices *s, NodeId i, int r, ValueId old)
{
    const Graph *g = s->c->g;
    const Node *n = &g->nodes[i];
    ValueId v = n->results[r], reads[MAX_READS];
    Columns a = s->columns[v], b = s->columns[old];
    for (int k = 0; k < n->operand_count; k++)
        if (n->operands[k] == old && (!may_write_over(n, r, k) ||
                                      a.begin != b.begin || a.end != b.end))
            node_fault(s->c, i, "%s must not be written over %s",
                       g->values[v].name, g->values[old].name);
    for (int k = node_reads(g, n, reads) - 1; k >= 0; k--)
        if (reads[k] == old && !is_operand(n, old) &&
            (!may_lie_over(g, n, r, old) || g->values[old].view_rows > 0 ||
             a.begin != b.begin || a.end != b.end))
            node_fault(s->c, i, "%s must not be written over %s, which it "
                       "reads on load", g->values[v].name, g->values[old].name);
}

static void check_write(const Slices *s, NodeId i, int r)
{
    const Graph *g = s->c->g;
    ValueId v = g->nodes[i].results[r];
    Columns columns = s->columns[v];
    for (ValueId old = s->newest[s->root[v]]; old != NONE;
         old = s->before[old]) {
        const Value *value = &g->values[old];
        if (!columns_meet(columns, s->columns[old])) continue;
        if (value->output || value->persistent)
            node_fault(s->c, i, "%s overwrites a value that must be kept",
                       g->values[v].name);
        if (s->last[old] > i || value->def == i)
            node_fault(s->c, i, "%s overwrites a value that [%" PRId32
                       "] needs",
                       g->values[v].name, s->last[old]);
        check_replaced(s, i, r, old);
    }
}

// ---- the walk ---------------------------------------------------------------

static void enter(Slices *s, ValueId v)
{
    s->before[v] = s->newest[s->root[v]];
    s->newest[s->root[v]] = v;
}

// Aliases are no writes; their reads were checked above.
static void walk(Slices *s, const int64_t *rows)
{
    const Graph *g = s->c->g;
    for (ValueId v = 0; v < g->value_count; v++)
        s->newest[v] = s->before[v] = NONE;
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].def == NONE && rows[s->root[v]] > 0) enter(s, v);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        for (int r = 0; r < n->result_count; r++) {
            ValueId v = n->results[r];
            if (v == NONE || rows[s->root[v]] == 0) continue;
            if (is_launch(n)) check_write(s, i, r);
            enter(s, v);
        }
    }
}

void check_slices(const Check *c, const ValueId *root, const NodeId *last,
                  int64_t *rows)
{
    const Graph *g = c->g;
    const Within *within = values_within(g, g->nodes, g->node_count);
    const Sliceable *may = values_sliceable(g, g->nodes, g->node_count);
    Columns *columns = NEW_ARRAY(g->arena, g->value_count, Columns);
    Slices s = {.c = c, .root = root, .last = last, .columns = columns,
                .newest = NEW_ARRAY(g->arena, g->value_count, ValueId),
                .before = NEW_ARRAY(g->arena, g->value_count, ValueId)};

    for (ValueId v = 0; v < g->value_count; v++) {
        check_rows(c, v, root[v], &rows[root[v]]);
        columns[v] = value_columns(g, v);
    }
    for (ValueId v = 0; v < g->value_count; v++) {
        if (rows[root[v]] == 0) continue;
        check_name(c, v, within[v]);
        if (g->values[v].view_rows > 0 &&
            !may_have_rows(may[v], g->values[v].view_rows))
            value_fault(c, v, "a slice, which not all its launches accept");
        if (g->values[v].view_rows == 0 &&
            value_bytes(&g->values[v]) != value_bytes(&g->values[root[v]]))
            value_fault(c, v, "it aliases %s, but is no slice",
                        g->values[root[v]].name);
    }
    for (NodeId i = 0; i < g->node_count; i++)
        if (g->nodes[i].in_place && rows[root[g->nodes[i].results[0]]] == 0)
            node_fault(c, i, "a copy in place, but of nothing that is a slice");
    walk(&s, rows);
}
