// Appends the start of the update if the loss is scaled: it waits for all
// gradients.  ir/ops/loss_scale.c describes the whole.
//
//   overflow  %30 bad = loss_scale(d.a, d.b, ...)    as many as a launch reads
//   begin     loss_scale.begin(header!, %30, ...)
//
// All nodes that write the state follow, including those for running
// statistics.
#include "../../ir/families/loss_scale.h"
#include "update.h"

// Appends a launch that checks count gradients.
static ValueId check(Graph *g, int count, const ValueId *gradients)
{
    const Op *op = ops[OP_loss_scale];
    const Node like = { .op = op };
    ValueId bad = graph_value(g, "overflow", WORKSPACE, I32,
                              op->shape(g, &like), g->training.optimizer_pos);
    graph_node(g, op, SCALE_CHECK, UPDATE, "overflow",
               g->training.optimizer_pos, count,
               gradients, 1, &bad);
    return bad;
}

void append_overflow_check(Graph *g, const ValueId *d, int32_t value_count)
{
    enum { MOST = MAX_SLOTS - 1 };
    ValueId gradients[MOST], operands[MAX_SLOTS] = { g->header };
    int count = 0, launches = 0;
    for (ValueId v = 0; v <= value_count; v++) {
        bool last = v == value_count;
        if (!last && (g->values[v].kind != PARAM || d[v] == NONE)) continue;
        if (count > 0 && (last || count == MOST)) {
            if (launches < MOST)
                operands[++launches] = check(g, count, gradients);
            else
                bug("more gradients than %d launches look at", MOST);
            count = 0;
        }
        if (!last) gradients[count++] = d[v];
    }
    graph_node(g, ops[OP_loss_scale], SCALE_BEGIN, UPDATE, "begin",
               g->training.optimizer_pos, 1 + launches, operands, 0, NULL);
}
