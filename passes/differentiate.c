// differentiate: from the forward graph of a net, the graph of a training step.
//
// Walks the forward nodes from last to first and lets each operator's rule
// append its backward nodes; then appends one update a parameter, by the
// optimizer's row, and the node that counts the step.
//
//   %4 conv1 = conv(%0, %1 conv1.weight, %2 conv1.bias)
// becomes, after the loss,
//   conv1.wgrad: %9 d.conv1.weight, %10 d.conv1.bias = conv.wgrad(%8, %0)
//   conv1.weight.sgd: sgd(%1!, %9, %3!, header)
//
// A loss starts its own gradient, scaled to the mean over the samples; nothing
// flows into values that lead to no parameter.  It does not order the nodes
// for memory (schedule) nor merge them (fuse_backward).  In modes without
// training it changes nothing.

#include <string.h>

#include "pass.h"

// Which values lead from a parameter to where a gradient can come from.
static bool *wanted_values(const Graph *g)
{
    bool *wanted = NEW_ARRAY(g->arena, g->value_count, bool);
    for (ValueId v = 0; v < g->value_count; v++)
        wanted[v] = g->values[v].kind == PARAM;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (!n->op->gradient || n->part != 0) continue;
        bool any = false;
        for (int k = 0; k < n->operand_count; k++)
            any |= n->operands[k] != NONE && wanted[n->operands[k]];
        for (int k = 0; k < n->result_count; k++)
            if (n->results[k] != NONE) wanted[n->results[k]] = any;
    }
    return wanted;
}

static bool has_gradient(Gradient *c, const Node *n)
{
    if (n->op->flags & LOSS) return true;
    for (int k = 0; k < n->result_count; k++)
        if (gradient_of_result(c, k) != NONE) return true;
    return false;
}

static void differentiate_nodes(Gradient *c, int32_t forward_count)
{
    for (c->node = forward_count - 1; c->node >= 0; c->node--) {
        const Node *n = &c->g->nodes[c->node];
        if (n->op->gradient && n->part == 0 && has_gradient(c, n))
            n->op->gradient(c);
    }
}

// The values of kind STATE other than the header: the optimizer's, in the order
// of the parameters, and for each parameter in the order of Op.state.
static ValueId *optimizer_states(const Graph *g)
{
    ValueId *states = NEW_ARRAY(g->arena, g->value_count, ValueId);
    int32_t count = 0;
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].kind == STATE && v != g->header) states[count++] = v;
    return states;
}

static bool slot_is(Slot slot, const char *name)
{
    return (size_t)slot.length == strlen(name) &&
           !strncmp(slot.name, name, slot.length);
}

// One update: the row's slots are weight, gradient, its states, the header.
static void update(Graph *g, ValueId param, ValueId d, const ValueId *states)
{
    const Op *op = g->optimizer;
    Slot slots[MAX_SLOTS];
    ValueId operands[MAX_SLOTS];
    int count = part_slots(part_operands(op, 0), slots, MAX_SLOTS);
    int state = 0;
    for (int k = 0; k < count; k++) {
        if (slot_is(slots[k], "weight")) operands[k] = param;
        else if (slot_is(slots[k], "gradient")) operands[k] = d;
        else if (slot_is(slots[k], "header")) operands[k] = g->header;
        else if (state < g->optimizer_states) operands[k] = states[state++];
        else operands[k] = NONE;
    }
    const char *name =
        arena_print(g->arena, "%s.%s", g->values[param].name, op->name);
    NodeId id = graph_node(g, op, 0, UPDATE, name, g->optimizer_pos, count,
                           operands, 0, NULL);
    memcpy(g->nodes[id].attr, g->optimizer_attr, sizeof g->optimizer_attr);
}

static void update_parameters(Graph *g, const ValueId *d, int32_t value_count)
{
    const ValueId *states = optimizer_states(g);
    for (ValueId v = 0; v < value_count; v++) {
        if (g->values[v].kind != PARAM) continue;
        if (d[v] != NONE) {
            if (g->keep_gradients) g->values[d[v]].output = true;
            update(g, v, d[v], states);
        }
        states += g->optimizer_states;
    }
    graph_node(g, ops[OP_advance], 0, UPDATE, "advance", g->optimizer_pos, 1,
               &g->header, 0, NULL);
}

// What forward nodes leave in the state, before the step is counted.
static void update_statistics(Graph *g, int32_t forward_count)
{
    for (NodeId i = 0; i < forward_count; i++)
        if (g->nodes[i].op->update && g->nodes[i].part == 0)
            g->nodes[i].op->update(g, i);
}

void pass_differentiate(Graph *g)
{
    if (g->mode != TRAIN) return;
    int32_t value_count = g->value_count, forward_count = g->node_count;
    Gradient c = {.g = g, .wanted = wanted_values(g)};
    c.d = NEW_ARRAY(g->arena, value_count, ValueId);
    for (ValueId v = 0; v < value_count; v++) c.d[v] = NONE;
    differentiate_nodes(&c, forward_count);
    update_statistics(g, forward_count);
    update_parameters(g, c.d, value_count);
}
