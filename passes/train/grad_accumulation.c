// Appends the sums of gradients over batches, between the backward nodes of a
// batch and the update.  ir/families/grad_accumulation.h describes the whole.
//
//   backward  one a gradient   accumulate_grad(w.sum!, d.w, header)
//   backward  the batch ends   accumulate_grad.next(header!)
//   update                     accumulate_grad.begin(header!), or loss_scale's
//   update    one a gradient   accumulate_grad.mean(w.sum!, header)
//
// Batch statistics are summed likewise: running statistics move towards their
// mean.  Layers that share their statistics have a sum each.
#include <string.h>

#include "../../ir/families/grad_accumulation.h"
#include "update.h"

static void append(Graph *g, int kernel, Phase phase, const char *name,
                   int operand_count, const ValueId *operands)
{
    graph_node(g, ops[OP_accumulate_grad], kernel, phase, name,
               g->training.optimizer_pos, operand_count, operands, 0, NULL);
}

// Returns the first sum of each parameter or statistic, or NONE.
static ValueId *list_sums(const Graph *g)
{
    ValueId *sums = NEW_ARRAY(g->arena, g->value_count, ValueId);
    for (ValueId v = 0; v < g->value_count; v++) sums[v] = NONE;
    for (ValueId v = g->value_count - 1; v >= 0; v--)
        if (is_sum(g, v)) sums[g->values[v].gradient_of] = v;
    return sums;
}

// Returns the first unused sum of what `sum` sums, from that on.
static ValueId unused_sum(const Graph *g, ValueId sum, const bool *used)
{
    ValueId of = g->values[sum].gradient_of;
    while (sum < g->value_count &&
           (!is_sum(g, sum) || g->values[sum].gradient_of != of || used[sum]))
        sum++;
    if (sum == g->value_count) bug("%s has too few sums", g->values[of].name);
    return sum;
}

static void add(Graph *g, ValueId sum, ValueId added)
{
    ValueId operands[] = {sum, added, g->header};
    append(g, ACCUMULATE_ADD, BACKWARD,
           arena_print(g->arena, "%s.accumulate_grad", g->values[added].name),
           3, operands);
}

static void take_mean(Graph *g, ValueId sum)
{
    ValueId operands[] = {sum, g->header};
    append(g, ACCUMULATE_MEAN, UPDATE,
           arena_print(g->arena, "%s.mean", g->values[sum].name), 2, operands);
}

// Sums the batch statistics that update node i reads.  The k-th value that it
// updates follows its k-th operand that is no state (Op.update).
static void accumulate_statistics(Graph *g, NodeId i, const ValueId *sums,
                                  bool *used)
{
    Node n = g->nodes[i];
    Slot slots[MAX_SLOTS];
    ValueId updated[MAX_SLOTS];
    int count = kernel_slots(kernel_operands(n.op, n.kernel), slots, MAX_SLOTS);
    int updates = 0, follows = 0;
    for (int k = 0; k < count; k++)
        if (slots[k].updated) updated[updates++] = n.operands[k];
    for (int k = 0; k < count; k++) {
        ValueId v = n.operands[k];
        if (v == NONE || g->values[v].persistent) continue;
        if (follows == updates) bug("%s follows too much", n.name);
        ValueId sum = sums[updated[follows++]];
        if (sum == NONE) bug("%s has no sum", n.name);
        sum = unused_sum(g, sum, used);
        add(g, sum, v);
        n.operands[k] = sum;
        used[sum] = true;
    }
}

// Moves the nodes from `first` to `end`, none of which has a result, to the
// end.
static void move_behind(Graph *g, NodeId first, NodeId end)
{
    size_t count = (size_t)(end - first);
    size_t rest = (size_t)(g->node_count - end);
    Node *moved = NEW_ARRAY(g->arena, count + 1, Node);
    memcpy(moved, g->nodes + first, count * sizeof(Node));
    memmove(g->nodes + first, g->nodes + end, rest * sizeof(Node));
    memcpy(g->nodes + first + rest, moved, count * sizeof(Node));
    for (NodeId i = first; i < first + (NodeId)rest; i++)
        for (int k = 0; k < g->nodes[i].result_count; k++)
            if (g->nodes[i].results[k] != NONE)
                g->values[g->nodes[i].results[k]].def = i;
}

void append_accumulation(Graph *g, ValueId *d, int32_t value_count,
                         NodeId statistics)
{
    NodeId end = g->node_count;
    ValueId sum_count = g->value_count;
    ValueId *sums = list_sums(g);
    bool *used = NEW_ARRAY(g->arena, sum_count, bool);
    for (ValueId v = 0; v < value_count; v++) {
        if (g->values[v].kind != PARAM || d[v] == NONE) continue;
        if (sums[v] == NONE) bug("%s has no sum", g->values[v].name);
        add(g, sums[v], d[v]);
        d[v] = sums[v];
        used[d[v]] = true;
    }
    for (NodeId i = statistics; i < end; i++)
        accumulate_statistics(g, i, sums, used);
    append(g, ACCUMULATE_NEXT, BACKWARD, "next", 1, &g->header);
    if (is_scaled(g)) append_overflow_check(g, d, value_count);
    else append(g, ACCUMULATE_BEGIN, UPDATE, "begin", 1, &g->header);
    for (ValueId v = 0; v < sum_count; v++)
        if (used[v]) take_mean(g, v);
    move_behind(g, statistics, end);
}
