// Functions that optimizers share: an elementwise launch over parameter,
// gradient and states.  It reads values that may change between training steps
// from the header on the device.
//
// This file depends on no optimizer.
#include "optimizer.h"
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
    launch_type(l, scales_gradients(g) ? "true" : "false");
}

void launch_arrays(const Graph *g, const Node *n, Launch *l, const char *name,
                   double decay)
{
    Launch *arrays = launch_item(l, name);
    for (int k = 0; k < n->operand_count; k++)
        if (n->operands[k] != g->header) launch_value(arrays, n->operands[k]);
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

double update_rate(const Ref *r)
{
    return r->header[HEADER_RATE] * rate_factor(r->g, r->n);
}
