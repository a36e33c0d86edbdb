// differentiate: makes the graph of a training step from a net's forward graph.
//
// Walks the forward nodes from last to first; each operator's rule appends its
// backward nodes.  Then appends one update per parameter, by the optimizer's
// row (update.c), and the node that counts the step.
//
//   %4 conv1 = conv(%0, %1 conv1.weight, %2 conv1.bias)
// becomes, after the loss,
//   conv1.wgrad: %9 d.conv1.weight, %10 d.conv1.bias = conv.wgrad(%8, %0)
//   conv1.weight.sgd: sgd(%1!, %9, %3!, header)
//
// A loss starts its own gradient, scaled to the mean over the samples and by
// loss_scale, if the train section has one (loss_scale.c).  Values that depend
// on no trained parameter get no gradient.  The pass neither orders the nodes
// for memory (schedule) nor merges them (fuse_activation_grad).  In modes
// without training it changes nothing.

#include "../ir/families/loss.h"
#include "pass.h"
#include "train/update.h"

static bool has_gradient(Gradient *c, const Node *n)
{
    if (n->op->flags & LOSS) return makes_loss(c->g, n);
    for (int k = 0; k < n->result_count; k++)
        if (gradient_of_result(c, k) != NONE) return true;
    return false;
}

static void differentiate_nodes(Gradient *c, int32_t forward_count)
{
    for (c->node = forward_count - 1; c->node >= 0; c->node--) {
        const Node *n = &c->g->nodes[c->node];
        if (n->op->gradient && n->kernel == 0 && has_gradient(c, n))
            n->op->gradient(c);
    }
}

// Appends the updates of state by forward nodes (running statistics), before
// the step is counted.
static void update_statistics(Graph *g, int32_t forward_count)
{
    for (NodeId i = 0; i < forward_count; i++)
        if (has_update(&g->nodes[i]))
            g->nodes[i].op->update(g, i);
}

void pass_differentiate(Graph *g, const PassOptions *o)
{
    (void)o;
    if (g->mode != TRAIN) return;
    prepend_first_masks(g);
    int32_t value_count = g->value_count, forward_count = g->node_count;
    Uses uses = graph_uses(g);
    Gradient c = {.g = g, .wanted = trained_values(g), .uses = &uses};
    c.d = NEW_ARRAY(g->arena, value_count, ValueId);
    for (ValueId v = 0; v < value_count; v++) c.d[v] = NONE;
    differentiate_nodes(&c, forward_count);
    if (is_scaled(g) && !is_accumulating(g))
        append_overflow_check(g, c.d, value_count);
    NodeId statistics = g->node_count;
    update_statistics(g, forward_count);
    if (is_accumulating(g))
        append_accumulation(g, c.d, value_count, statistics);
    append_updates(g, c.d, value_count);
    place_quantized(g, forward_count);
}
