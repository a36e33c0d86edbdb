// Functions for gradient rules: the gradients so far, new backward nodes, and
// sums of gradients of values that are read more than once.
//
// Pass differentiate walks the forward nodes from last to first and calls each
// operator's rule.  Rules access the graph only through these functions, so
// they do not depend on the walk.

#include <string.h>

#include "op.h"

bool *trained_values(const Graph *g)
{
    bool *trained = NEW_ARRAY(g->arena, g->value_count, bool);
    for (ValueId v = 0; v < g->value_count; v++)
        trained[v] = g->mode == TRAIN && is_trained(&g->values[v]);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (!n->op->gradient || n->kernel != 0) continue;
        bool any = false;
        for (int k = 0; k < n->operand_count; k++)
            any |= n->operands[k] != NONE && trained[n->operands[k]];
        for (int k = 0; k < n->result_count; k++)
            if (n->results[k] != NONE) trained[n->results[k]] = any;
    }
    return trained;
}

static const Node *forward_node(const Gradient *c)
{
    return &c->g->nodes[c->node];
}

ValueId gradient_of_result(Gradient *c, int k)
{
    ValueId result = forward_node(c)->results[k];
    return result == NONE ? NONE : c->d[result];
}

bool gradient_wanted(Gradient *c, int k)
{
    ValueId operand = forward_node(c)->operands[k];
    return operand != NONE && c->wanted[operand];
}

ValueId gradient_value(Gradient *c, int k)
{
    return gradient_value_of(c, forward_node(c)->operands[k]);
}

ValueId gradient_value_of(Gradient *c, ValueId of)
{
    Graph *g = c->g;
    of = unrounded_weight(g, of);
    Value v = g->values[of];
    ValueId d = graph_value(g, arena_print(g->arena, "d.%s", v.name), GRADIENT,
                            v.dtype, v.shape, forward_node(c)->pos);
    g->values[d].gradient_of = of;
    return d;
}

// A library GEMM, which has a workspace, computes no bias gradient.  Without a
// weight gradient there is no launch for it.
bool gradient_takes_bias(const Graph *g, const Uses *uses, NodeId id)
{
    const Node *n = &g->nodes[id];
    bool can = n->op->flags & ADDS_BIAS && n->kernel == 0 && n->act == NULL &&
               n->operands[n->operand_count - 1] == NONE &&
               result_named(n, "workspace") == NONE &&
               !g->values[n->operands[1]].frozen;
    NodeId next = can ? only_reader(g, uses, n->results[0]) : NONE;
    return next != NONE && g->nodes[next].op == ops[OP_bias] &&
           g->nodes[next].kernel == 0;
}

ValueId gradient_bias(const Gradient *c)
{
    const Node *n = forward_node(c);
    if (!gradient_takes_bias(c->g, c->uses, c->node))
        return n->operands[n->operand_count - 1];
    NodeId next = only_reader(c->g, c->uses, n->results[0]);
    return c->g->nodes[next].operands[1];
}

NodeId gradient_node(Gradient *c, const Op *op, int kernel, int operand_count,
                     const ValueId *operands, int result_count,
                     const ValueId *results)
{
    Graph *g = c->g;
    Node n = *forward_node(c);
    const char *suffix = op->kernels[kernel].name;
    const char *name =
        arena_print(g->arena, "%s.%s", n.name, *suffix ? suffix : op->name);
    NodeId id = graph_node(g, op, kernel, BACKWARD, name, n.pos, operand_count,
                           operands, result_count, results);
    memcpy(g->nodes[id].attr, n.attr, sizeof n.attr);
    return id;
}

// The sum takes the name of the first gradient, which users look up.
static void swap_names(Graph *g, ValueId a, ValueId b)
{
    const char *name = g->values[a].name;
    g->values[a].name = g->values[b].name;
    g->values[b].name = name;
}

void gradient_add(Gradient *c, int k, ValueId contribution)
{
    gradient_add_to(c, forward_node(c)->operands[k], contribution);
}

void gradient_add_to(Gradient *c, ValueId of, ValueId contribution)
{
    Graph *g = c->g;
    if (c->d[of] == NONE) {
        c->d[of] = contribution;
        return;
    }
    ValueId sum = gradient_value_of(c, of);
    graph_node(g, ops[OP_add], 0, BACKWARD,
               arena_print(g->arena, "d.%s.add", g->values[of].name),
               forward_node(c)->pos, 2,
               (ValueId[]){c->d[of], contribution}, 1, &sum);
    if (g->values[unrounded_weight(g, of)].kind == PARAM)
        swap_names(g, c->d[of], sum);
    c->d[of] = sum;
}
