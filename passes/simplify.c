// simplify: deletes nodes that change nothing.
//
//   %2 = scale(%1) factor=2   %3 = scale(%2) factor=4   %4 = scale(%9) factor=1
// becomes
//   %3 = scale(%1) factor=8    (readers of %4 read %9)
//
// The operator decides how a node can be simplified (Op.simplify); this pass
// calls it for each forward node.  Then it deletes dead nodes, by a backward
// walk from the outputs and from nodes that update state, now or in a training
// step.  An output never becomes an input or a view of one: a launch makes it.
// Marks are kept: the value that replaces another inherits its mark.  If a
// value loses its readers, its operands inherit the mark.
//
// The gradient of a value with several readers is a sum in the order of the
// readers.  A node stays if its removal would change that order for its
// operand, so no bit of a gradient depends on this pass.

#include "pass.h"

// True if n must stay.  An update of state in training is an effect: running
// statistics are updated even if no loss depends on their node.  Evaluation
// keeps such a node too, so that both read the same inputs.
static bool has_effect(const Graph *g, const Node *n)
{
    Slot slots[MAX_SLOTS];
    if (g->mode != INFER && n->kernel == 0 && n->op->update) return true;
    int count =
        kernel_slots(kernel_operands(n->op, n->kernel), slots, MAX_SLOTS);
    for (int k = 0; k < count; k++)
        if (slots[k].updated) return true;
    for (int k = 0; k < n->result_count; k++)
        if (n->results[k] != NONE && g->values[n->results[k]].output)
            return true;
    return false;
}

// Returns for each value the number of operands that are it.
static int32_t *count_readers(const Graph *g)
{
    int32_t *readers = NEW_ARRAY(g->arena, g->value_count, int32_t);
    for (NodeId i = 0; i < g->node_count; i++)
        for (int k = 0; k < g->nodes[i].operand_count; k++)
            if (g->nodes[i].operands[k] != NONE)
                readers[g->nodes[i].operands[k]]++;
    return readers;
}

// Moves the marks of a deleted node to its operands.  A value without readers
// loses its mark.
static void hand_marks_on(Graph *g, const Node *n, const int32_t *readers)
{
    for (int j = 0; j < n->result_count; j++)
        for (int k = 0; k < n->operand_count; k++)
            if (n->results[j] != NONE && readers[n->results[j]] > 0 &&
                n->operands[k] != NONE)
                graph_mark_too(g, n->results[j], n->operands[k]);
}

static void drop_unread(Graph *g, const int32_t *readers)
{
    bool *read = NEW_ARRAY(g->arena, g->value_count, bool);
    for (NodeId i = g->node_count - 1; i >= 0; i--) {
        Node *n = &g->nodes[i];
        if (!n->op) continue;
        bool needed = has_effect(g, n);
        for (int k = 0; k < n->result_count; k++)
            needed |= n->results[k] != NONE && read[n->results[k]];
        if (!needed) {
            hand_marks_on(g, n, readers);
            n->op = NULL;
            continue;
        }
        for (int k = 0; k < n->operand_count; k++)
            if (n->operands[k] != NONE) read[n->operands[k]] = true;
    }
}

// Returns for each value whether it or a view of it is an output.
static bool *shown_values(const Graph *g)
{
    bool *shown = NEW_ARRAY(g->arena, g->value_count, bool);
    for (ValueId v = 0; v < g->value_count; v++)
        shown[v] = g->values[v].output;
    for (NodeId i = g->node_count - 1; i >= 0; i--) {
        const Node *n = &g->nodes[i];
        if (n->op->flags & VIEW && shown[n->results[0]])
            shown[n->operands[0]] = true;
    }
    return shown;
}

static bool is_input(const Graph *g, ValueId v)
{
    while (g->values[v].def != NONE &&
           g->nodes[g->values[v].def].op->flags & VIEW)
        v = g->nodes[g->values[v].def].operands[0];
    return g->values[v].kind == INPUT;
}

typedef struct Simplifier {
    Graph   *g;
    bool    *trained, *shown;
    int32_t *readers;
    ValueId *stands;            // of each value: its replacement for readers
} Simplifier;

// True if the sum that is x's gradient stays the same when the readers of y,
// made from x, read x.  It does if x has no other reader, or if two terms
// change places.
static bool keeps_sum(const Simplifier *f, ValueId x, ValueId y)
{
    return !f->trained[x] || f->readers[x] == 1 ||
           (f->readers[x] == 2 && f->readers[y] == 1);
}

// Lets the operator rewrite node i, and undoes that if it is not allowed.
static void simplify_node(Simplifier *f, NodeId i)
{
    Graph *g = f->g;
    Node *n = &g->nodes[i], was = *n;
    ValueId from = n->operands[0], y = n->results[0];
    ValueId instead = n->op->simplify(g, i), to = n->operands[0];
    if (to != from && !keeps_sum(f, to, from)) {
        *n = was;
        n->operands[0] = from;
        return;
    }
    if (to != from) {
        f->readers[from]--;
        f->readers[to] += f->readers[from] > 0;
    }
    // A launch must make an output.
    if (instead == NONE || g->values[y].output ||
        (f->shown[y] && is_input(g, instead)) || !keeps_sum(f, instead, y))
        return;
    f->stands[y] = instead;
    f->readers[instead] += f->readers[y] - 1;
}

void pass_simplify(Graph *g, const PassOptions *o)
{
    (void)o;
    const int32_t *readers = count_readers(g);
    // One walk replaces all names.
    Simplifier f = { g, trained_values(g), shown_values(g), count_readers(g),
                  NEW_ARRAY(g->arena, g->value_count, ValueId) };
    for (ValueId v = 0; v < g->value_count; v++) f.stands[v] = v;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 0; k < n->operand_count; k++)
            if (n->operands[k] != NONE)
                n->operands[k] = f.stands[n->operands[k]];
        if (n->op->simplify) simplify_node(&f, i);
    }
    drop_unread(g, readers);
    graph_compact(g);
}
