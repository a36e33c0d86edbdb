// Reports parameters that no gradient reaches.  Such a program is rarely meant.
// Either an operator without a gradient stands between the parameter and the
// loss, or the parameter does not lead to the loss.  Each cause gets one
// warning; frozen parameters get none.  A program without any trained parameter
// is an error.
//
// The check uses the training graph after the passes, since a parameter is
// trained if an update writes it.
#include "../ir/families/loss.h"
#include "../ir/op/op.h"
#include "compile.h"

static bool *find_updated(const Graph *g)
{
    bool *updated = NEW_ARRAY(g->arena, (size_t)g->value_count, bool);

    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        Slot slot[MAX_SLOTS];
        int slots =
            kernel_slots(kernel_operands(n->op, n->kernel), slot, MAX_SLOTS);
        for (int k = 0; k < slots && k < n->operand_count; k++)
            if (n->operands[k] != NONE && slot[k].updated)
                updated[n->operands[k]] = true;
    }
    return updated;
}

static bool reads_any(const Node *n, const bool *values)
{
    for (int k = 0; k < n->operand_count; k++)
        if (n->operands[k] != NONE && values[n->operands[k]]) return true;
    return false;
}

// Returns the first node after a parameter that passes no gradient back; NONE
// if its results do not lead to a loss.
static NodeId find_blocker(const Graph *g, ValueId param)
{
    bool *reached = NEW_ARRAY(g->arena, (size_t)g->value_count, bool);

    reached[param] = true;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        bool is_metric = n->op->flags & METRIC ||
            (n->op->flags & LOSS && n->kernel == 0 && !makes_loss(g, n));
        bool is_loss = n->op->flags & LOSS && n->kernel == 0;
        if (n->phase != FORWARD || is_metric || !reads_any(n, reached))
            continue;
        if (is_loss || n->op->gradient == NULL) return i;
        for (int k = 0; k < n->result_count; k++)
            if (n->results[k] != NONE) reached[n->results[k]] = true;
    }
    return NONE;
}

typedef struct Cause {
    ValueId first;              // parameter
    int     count;              // of parameters
} Cause;

static void warn(const Graph *g, NodeId blocker, Cause cause)
{
    const Value *param = &g->values[cause.first];
    const char *more = cause.count == 1 ? "" :
        arena_print(g->arena, " and %d more", cause.count - 1);

    if (blocker == NONE) {
        warning(g->diag, param->pos, "'%s'%s will not be trained: it leads to "
                "no loss", param->name, more);
        return;
    }
    const Node *n = &g->nodes[blocker];
    warning(g->diag, param->pos, "'%s'%s will not be trained: %s passes no "
            "gradient on", param->name, more, n->op->name);
    note(g->diag, n->pos, "it is here");
}

void check_trained(const Graph *g, Pos pos)
{
    const bool *updated;
    Cause *causes = NEW_ARRAY(g->arena, (size_t)g->node_count + 1, Cause);
    int trained = 0, untrained = 0;

    if (!(g->facts & HAS_GRADIENTS) || g->mode != TRAIN) return;
    updated = find_updated(g);
    for (ValueId v = 0; v < g->value_count; v++) {
        if (g->values[v].kind != PARAM) continue;
        untrained += !updated[v];
        if (g->values[v].frozen) continue;
        if (updated[v]) {
            trained++;
            continue;
        }
        Cause *cause = &causes[find_blocker(g, v) + 1];
        if (cause->count++ == 0) cause->first = v;
    }
    for (NodeId i = 0; i <= g->node_count; i++)
        if (causes[i].count > 0) warn(g, i - 1, causes[i]);
    if (untrained > 0 && trained == 0)
        error(g->diag, pos, "training would change none of the parameters");
}
