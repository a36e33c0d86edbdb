// Functions that optimizers share: an elementwise launch over parameter,
// gradient and states.  It reads values that may change between training steps
// from the header on the device.
//
// This file depends on no optimizer.
#include "optimizer.h"
#include "prune.h"
#include "../op/op_checks.h"

static bool scales_gradients(const Graph *g)
{
    return g->training.clip_norm != 0 || is_scaled(g);
}

int64_t update_count(const Graph *g, const Node *n)
{
    return elements(g->values[n->operands[UPDATED_WEIGHT]].shape);
}

void launch_update(const Graph *g, const Node *n, Launch *l,
                   const char *kernel)
{
    launch_elements(l, kernel, update_count(g, n));
    launch_weight_type(g, l);
    launch_type(l, scales_gradients(g) ? "true" : "false");
}

void launch_weight_type(const Graph *g, Launch *l)
{
    launch_type(l, is_pruning(g) ? "PrunedWeight" : "real *");
}

void launch_weight(const Graph *g, const Node *n, Launch *arrays)
{
    const Attr *attr = g->training.prune_attr;
    if (!is_pruning(g)) {
        launch_value(arrays, n->operands[UPDATED_WEIGHT]);
        return;
    }
    Launch *weight = launch_members(arrays, "PrunedWeight");
    launch_value(weight, n->operands[UPDATED_WEIGHT]);
    launch_value(weight, operand_named(n, "pruned"));
    Launch *steps = launch_members(weight, "PruneSteps");
    launch_int(steps, attr[PRUNE_BEGIN].i, "begin");
    launch_int(steps, attr[PRUNE_END].i, "end");
    launch_int(steps, attr[PRUNE_EVERY].i, "every");
}

void launch_arrays(const Graph *g, const Node *n, Launch *l, const char *name,
                   double decay)
{
    Launch *arrays = launch_item(l, name);
    launch_weight_type(g, arrays);
    launch_weight(g, n, arrays);
    for (int k = UPDATE_GRADIENT; n->operands[k] != g->header; k++)
        launch_value(arrays, n->operands[k]);
    launch_real(arrays, decay_of(g, n->operands[UPDATED_WEIGHT], decay), NULL);
    launch_rate_factor(g, n, arrays);
    launch_int(arrays, update_count(g, n), NULL);
    launch_header(l);
}

static double rate_factor(const Graph *g, const Node *n)
{
    return g->values[n->operands[UPDATED_WEIGHT]].rate_factor;
}

void launch_rate_factor(const Graph *g, const Node *n, Launch *arrays)
{
    launch_real(arrays, rate_factor(g, n), NULL);
}

double update_gradient(const Ref *r, int64_t i)
{
    double scale = scales_gradients(r->g) ? r->header[HEADER_GRADIENT_SCALE]
                                          : 1;
    return scale * r->in[UPDATE_GRADIENT][i];
}

void mask_weights(const Ref *r)
{
    int slot = operand_called(r->n, "pruned");
    double next = r->header[HEADER_STEP] + 1;
    if (slot == NONE || has_mask(r->g->training.prune_attr, next)) return;
    for (int64_t i = 0; i < update_count(r->g, r->n); i++)
        if ((int)r->in[slot][i / PRUNED_EACH] >> i % PRUNED_EACH & 1)
            r->in[UPDATED_WEIGHT][i] = 0;
}

double update_rate(const Ref *r)
{
    return r->header[HEADER_RATE] * rate_factor(r->g, r->n);
}
