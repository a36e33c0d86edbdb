// Checks aliases.  Values that share bytes form a class; its root aliases no
// value.  A result that overwrites an operand replaces the contents of the
// class: no older value of the class may be read after it.  A view does not
// change the contents.  Classes with slices are checked by columns, in
// verify_strided_views.c.
#include <inttypes.h>
#include "verify.h"
#include "../plan/plan.h"

// The state of a class during the walk over the nodes, stored at its root.
typedef struct Class {
    NodeId last_read;           // of its values so far
    NodeId written;             // the node that made its contents
    bool   kept;                // one of them is an output or persistent
} Class;

// Returns the root of each value; a chain of aliases has at most as many links
// as there are values.
static ValueId *roots_of(const Check *c)
{
    const Graph *g = c->g;
    ValueId *root = NEW_ARRAY(g->arena, (size_t)g->value_count, ValueId);

    for (ValueId v = 0; v < g->value_count; v++) root[v] = NONE;
    for (ValueId v = 0; v < g->value_count; v++) {
        ValueId end = v;
        int32_t steps = 0;
        while (root[end] == NONE && g->values[end].alias_of != NONE) {
            end = g->values[end].alias_of;
            if (end < 0 || end >= g->value_count || ++steps > g->value_count)
                value_fault(c, v, "its aliases form a cycle");
        }
        if (root[end] != NONE) end = root[end];
        // Stores the root for the whole chain.
        for (ValueId w = v; w != NONE && root[w] == NONE;) {
            root[w] = end;
            w = g->values[w].alias_of;
        }
    }
    return root;
}

// Returns the last node that reads each value, or NONE.
static NodeId *last_reads(const Graph *g)
{
    NodeId *last = NEW_ARRAY(g->arena, (size_t)g->value_count, NodeId);

    for (ValueId v = 0; v < g->value_count; v++) last[v] = NONE;
    for (NodeId i = 0; i < g->node_count; i++) {
        ValueId reads[MAX_READS];
        for (int k = node_reads(g, &g->nodes[i], reads) - 1; k >= 0; k--)
            last[reads[k]] = i;
    }
    return last;
}

// Adds a value to its class.
static void join(Class *class, const Value *value, NodeId last_read)
{
    if (last_read > class->last_read) class->last_read = last_read;
    class->kept |= value->output || value->persistent;
}

// Result r of node i overwrites the contents of its class.
static void check_overwrite(const Check *c, NodeId i, int r,
                            const ValueId *root, const Class *class)
{
    const Graph *g = c->g;
    const Node *n = &g->nodes[i];
    ValueId v = n->results[r], reads[MAX_READS];
    bool allowed = false;

    for (int k = node_reads(g, n, reads) - 1; k >= 0; k--) {
        if (root[reads[k]] != root[v]) continue;
        allowed = may_lie_over(g, n, r, reads[k]);
        if (!allowed)
            node_fault(c, i, "%s must not be written over %s%s",
                       g->values[v].name, g->values[reads[k]].name,
                       is_operand(n, reads[k]) ? ""
                                               : ", which it reads on load");
        if (value_bytes(&g->values[v]) != value_bytes(&g->values[reads[k]]))
            node_fault(c, i, "%s is written over %s, which has other bytes",
                       g->values[v].name, g->values[reads[k]].name);
    }
    if (!allowed)
        node_fault(c, i, "%s is over %s, which it does not read",
                   g->values[v].name, g->values[root[v]].name);
    if (class->kept)
        node_fault(c, i, "%s overwrites a value that must be kept",
                   g->values[v].name);
    if (class->last_read > i || class->written == i)
        node_fault(c, i, "%s overwrites a value that [%" PRId32 "] needs",
                   g->values[v].name, class->last_read);
}

// Checks a view: the same bytes with another name and shape.
static void check_view(const Check *c, NodeId i, const ValueId *root)
{
    const Node *n = &c->g->nodes[i];
    const Value *result = &c->g->values[n->results[0]];
    const Value *operand = &c->g->values[n->operands[0]];

    if (!(n->op->flags & VIEW))
        node_fault(c, i, "%s is no view, but makes one", n->op->name);
    if (root[n->results[0]] != root[n->operands[0]])
        node_fault(c, i, "%s is no view of %s", result->name, operand->name);
    if (value_bytes(result) != value_bytes(operand))
        node_fault(c, i, "%s has not the bytes of %s", result->name,
                   operand->name);
}

// Adds a result of node i to its class: as a view, as an overwrite, or as the
// first value.
static void check_result(const Check *c, NodeId i, int r, const ValueId *root,
                         const NodeId *last, Class *classes)
{
    const Node *n = &c->g->nodes[i];
    const Value *value = &c->g->values[n->results[r]];
    Class *class = &classes[root[n->results[r]]];

    if (n->fused_load) {
        if (value->alias_of != NONE)
            node_fault(c, i, "%s has no bytes, but aliases some", value->name);
        return;
    }
    if (value->alias_of == NONE && (n->op->flags & VIEW))
        node_fault(c, i, "a view that has bytes of its own");
    if (value->alias_of != NONE && value->view) {
        check_view(c, i, root);
    } else {
        if (value->alias_of != NONE) check_overwrite(c, i, r, root, class);
        class->written = i;
    }
    join(class, value, last[n->results[r]]);
}

void check_sharing(const Check *c)
{
    const Graph *g = c->g;
    const ValueId *root = roots_of(c);
    const NodeId *last = last_reads(g);
    Class *classes = NEW_ARRAY(g->arena, (size_t)g->value_count, Class);
    int64_t *rows = NEW_ARRAY(g->arena, (size_t)g->value_count, int64_t);

    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        classes[v] = (Class){ .last_read = NONE, .written = NONE };
        if (value->alias_of != NONE && !is_stored(g, value->alias_of))
            value_fault(c, v, "it aliases %s, which has no bytes",
                        g->values[value->alias_of].name);
        if (value_bytes(value) > value_bytes(&g->values[root[v]]))
            value_fault(c, v, "it is larger than %s, which it aliases",
                        g->values[root[v]].name);
        if (value->alias_of != NONE && value->def == NONE)
            value_fault(c, v, "nothing makes it, but it shares its bytes");
        if (value->def == NONE) join(&classes[root[v]], value, last[v]);
    }
    check_slices(c, root, last, rows);
    for (NodeId i = 0; i < g->node_count; i++)
        for (int r = 0; r < g->nodes[i].result_count; r++)
            if (g->nodes[i].results[r] != NONE &&
                rows[root[g->nodes[i].results[r]]] == 0)
                check_result(c, i, r, root, last, classes);
}

// Returns the end of v's memory: of the state, of the arena, or of the inputs
// after it that are the caller's.
static int64_t end_of(const Graph *g, ValueId v)
{
    bool shared = g->facts & IS_SHARED;
    if (is_persistent(g->values[v].kind)) return g->state_bytes;
    while (shared && g->values[v].alias_of != NONE) v = g->values[v].alias_of;
    return is_given(&g->values[v]) ? INT64_MAX : g->arena_bytes;
}

// Every buffer is inside the arena, and the state is in its prefix.
void check_places(const Check *c)
{
    const Graph *g = c->g;

    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        bool is_state = is_persistent(value->kind);
        int64_t end = end_of(g, v);
        bool alias = (g->facts & IS_SHARED) && value->alias_of != NONE;
        if (!is_stored(g, v)) continue;
        if (value->offset < 0 ||
            (value->view_rows == 0 && value->offset % ALIGNMENT != 0))
            value_fault(c, v, "its offset is %" PRId64, value->offset);
        if (is_given(value) && value->offset < g->arena_bytes)
            value_fault(c, v, "it is the caller's, but in the arena");
        if (value_bytes(value) > end - value->offset)
            value_fault(c, v, "it ends outside the %s",
                        is_state ? "state" : "arena");
        if (alias && value->offset - value->start !=
                         g->values[value->alias_of].offset)
            value_fault(c, v, "it is not inside %s",
                        g->values[value->alias_of].name);
    }
    if (g->values[g->header].offset != 0)
        value_fault(c, g->header, "the header does not begin the arena");
    if (g->state_bytes > g->arena_bytes)
        fault(c, "the state is larger than the arena");
}
