// Launches that accumulate gradients into momentum.  This file depends neither
// on their operator nor on the optimizer.
#include "momentum.h"
#include "../op/op_checks.h"

bool accumulates(const Node *n)
{
    for (const Kernel *p = n->op->kernels; p->results != NULL; p++)
        if (p->with_momentum != 0 && p->with_momentum == n->kernel) return true;
    return false;
}

// Returns the parameter whose gradient k the node adds to its momentum; NONE if
// there is no such gradient, or the node does not accumulate.
static ValueId accumulated_param(const Node *n, int k)
{
    int at = ACCUMULATED + 2 * k;
    // The last operand is the header.
    return accumulates(n) && at + 1 < n->operand_count ? n->operands[at] : NONE;
}

// Returns the optimizer's momentum; passes and verifier checked that it has
// one.
static Momentum momentum_of(const Graph *g, ValueId param)
{
    Momentum m = { 0 };
    if (!g->training.optimizer->momentum(g,
                                         &m)) bug("momentum of another kind");
    m.decay = decay_of(g, param, m.decay);
    return m;
}

// A node without gradient k has an empty Momentum for it.
void launch_gradient(const Graph *g, const Node *n, Launch *l, int k)
{
    ValueId param = accumulated_param(n, k);
    if (!accumulates(n)) {
        launch_value(l, n->results[k]);
        return;
    }
    Launch *to = launch_members(l, "Momentum");
    if (param == NONE) return;
    Momentum m = momentum_of(g, param);
    launch_value(to, n->operands[ACCUMULATED + 2 * k + 1]);
    launch_value(to, param);
    launch_header(to);
    launch_real(to, m.keep, "momentum");
    launch_real(to, m.decay, "weight_decay");
}

void launch_gradient_type(const Node *n, Launch *l)
{
    launch_type(l, accumulates(n) ? "Momentum" : "real *");
}

double *ref_gradient(const Ref *r, int k)
{
    ValueId param = accumulated_param(r->n, k);
    if (!accumulates(r->n)) {
        if (r->out[k] != NULL) ref_clear(r, k);
        return r->out[k];
    }
    if (param == NONE || r->header[HEADER_SKIP] != 0) return NULL;
    Momentum m = momentum_of(r->g, param);
    const double *weight = r->in[ACCUMULATED + 2 * k];
    double *momentum = r->in[ACCUMULATED + 2 * k + 1];
    int64_t count = elements(r->g->values[param].shape);
    for (int64_t i = 0; i < count; i++)
        momentum[i] = m.keep * momentum[i] + m.decay * weight[i];
    return momentum;
}

void cost_momentum(const Graph *g, const Node *n, Cost *cost)
{
    for (int k = 0; accumulates(n) && k < n->operand_count; k++) {
        ValueId param = accumulated_param(n, k);
        if (param == NONE) continue;
        cost->flops = capped_sum(cost->flops,
                                 4 * elements(g->values[param].shape));
    }
}
