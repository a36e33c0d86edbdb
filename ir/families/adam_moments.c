// Moments of the gradient, with PyTorch's meaning of the arguments.
//
// Bias correction counts updates, not steps: a skipped step has not changed the
// moments.  The rate is read from the header on the device, where the caller
// may change it; the argument is its initial value.
#include <math.h>
#include "adam_moments.h"
#include "optimizer.h"
#include "../op/op_checks.h"

enum { RATE, BETA1, BETA2, EPSILON, DECAY };
enum { MEAN = FIRST_STATE, SQUARE };    // operands

const AttrSpec moment_attrs[] = {
    { "lr", ATTR_FLOAT, 0, 0 }, { "beta1", ATTR_FLOAT, 0, 0 },
    { "beta2", ATTR_FLOAT, 0, 0 }, { "epsilon", ATTR_FLOAT, 0, 0 },
    { "weight_decay", ATTR_FLOAT, 0, 0 }, { .name = NULL },
};
const char *const moment_states[] = { "m", "v", NULL };

ValueId build_moments(Build *b)
{
    Graph *g = b->g;
    for (int i = BETA1; i <= BETA2; i++) {
        if (b->arg[i].f < 1) continue;
        error(g->diag, b->arg[i].pos, "%s must be below 1",
              b->op->args[i].name);
        return NONE;
    }
    take_attrs(b, g->training.optimizer_attr);
    g->training.optimizer_states = 2;
    return NONE;
}

// Two operations for the decay, three and four for the moments, five for the
// step.  Weight and moments are read and written.
void cost_moments(const Graph *g, const Node *n, Cost *cost)
{
    const Value *weight = &g->values[n->operands[UPDATED_WEIGHT]];
    cost->flops = 14 * elements(weight->shape);
    cost->bytes = cost_bytes(g, n);
}

// 1 - beta is rounded instead of beta: a float near 0 is more accurate.
void launch_moments(const Graph *g, const Node *n, Launch *l, bool decoupled)
{
    launch_update(g, n, l, "adam_update");
    launch_type(l, decoupled ? "true" : "false");
    launch_arrays(g, n, l, "AdamArrays", n->attr[DECAY].f);
    launch_real(l, 1 - n->attr[BETA1].f, "1 - beta1");
    launch_real(l, 1 - n->attr[BETA2].f, "1 - beta2");
    launch_real(l, n->attr[EPSILON].f, "epsilon");
    launch_last(l);
}

void reference_moments(const Ref *r, bool decoupled)
{
    const Attr *attr = r->n->attr;
    double beta1 = attr[BETA1].f, beta2 = attr[BETA2].f;
    double rate = update_rate(r), t = r->header[HEADER_UPDATES] + 1;
    double decay = decay_of(r->g, r->n->operands[UPDATED_WEIGHT],
                            attr[DECAY].f);
    double *weight = r->in[UPDATED_WEIGHT], *m = r->in[MEAN];
    double *v = r->in[SQUARE];
    if (r->header[HEADER_SKIP] != 0) return;
    for (int64_t i = 0; i < update_count(r->g, r->n); i++) {
        double g = update_gradient(r, i);
        if (decoupled) weight[i] -= rate * decay * weight[i];
        else g += decay * weight[i];
        m[i] = beta1 * m[i] + (1 - beta1) * g;
        v[i] = beta2 * v[i] + (1 - beta2) * g * g;
        double mean = m[i] / (1 - pow(beta1, t));
        double square = v[i] / (1 - pow(beta2, t));
        weight[i] -= rate * mean / (sqrt(square) + attr[EPSILON].f);
    }
    mask_weights(r);
}
