// rmsprop: the gradient divided by the root of its mean square, with PyTorch's
// meaning of the arguments (decay is its alpha), not centered.
//
// Without momentum there is one state.  The rate is read from the header on the
// device, where the caller may change it; the argument is its initial value.
#include <math.h>
#include "../op/op_row.h"
#include "../families/optimizer.h"
#include "../op/op_checks.h"

enum { RATE, KEPT, EPSILON, MOMENTUM, DECAY };
enum { SQUARE = FIRST_STATE, VELOCITY };    // operands

static const ArgSpec args[] = {
    { "lr", ARG_FLOAT, "0.01", 0, 1e30, "the learning rate" },
    { "decay", ARG_FLOAT, "0.99", 0, 1, "decay of the mean square" },
    { "epsilon", ARG_FLOAT, "1e-8", 0, 1e30, "added to the root of the mean "
      "square" },
    { "momentum", ARG_FLOAT, "0", 0, 1e30, "decay of the accumulated "
      "direction" },
    { "weight_decay", ARG_FLOAT, "0", 0, 1e30, "this times the weight is "
      "added to its gradient" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "lr", ATTR_FLOAT, 0, 0 }, { "decay", ATTR_FLOAT, 0, 0 },
    { "epsilon", ATTR_FLOAT, 0, 0 }, { "momentum", ATTR_FLOAT, 0, 0 },
    { "weight_decay", ATTR_FLOAT, 0, 0 }, { .name = NULL },
};
static const char *const state[] = { "square", "momentum", NULL };

static ValueId build(Build *b)
{
    take_attrs(b, b->g->training.optimizer_attr);
    b->g->training.optimizer_states = b->arg[MOMENTUM].f != 0 ? 2 : 1;
    return NONE;
}

// Two operations for the decay, four for the square, three for the direction,
// and two each for momentum and step.  Operands updated in place count twice.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    const Value *weight = &g->values[n->operands[UPDATED_WEIGHT]];
    bool has_velocity = n->operands[VELOCITY] != NONE;
    cost->flops = (has_velocity ? 13 : 11) * elements(weight->shape);
    cost->bytes = cost_bytes(g, n);
}

// 1 - decay is rounded instead of decay: a float near 0 is more accurate.
static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_update(g, n, l, "rmsprop_update");
    launch_arrays(g, n, l, "RmspropArrays", n->attr[DECAY].f);
    launch_real(l, 1 - n->attr[KEPT].f, "1 - decay");
    launch_real(l, n->attr[EPSILON].f, "epsilon");
    launch_real(l, n->attr[MOMENTUM].f, "momentum");
    launch_last(l);
}

static void reference(const Ref *r)
{
    const Attr *attr = r->n->attr;
    double kept = attr[KEPT].f;
    double decay = decay_of(r->g, r->n->operands[UPDATED_WEIGHT],
                            attr[DECAY].f);
    double *weight = r->in[UPDATED_WEIGHT], *square = r->in[SQUARE];
    double *velocity = r->in[VELOCITY];
    if (r->header[HEADER_SKIP] != 0) return;
    for (int64_t i = 0; i < update_count(r->g, r->n); i++) {
        double g = update_gradient(r, i) + decay * weight[i];
        square[i] = kept * square[i] + (1 - kept) * g * g;
        double direction = g / (sqrt(square[i]) + attr[EPSILON].f);
        if (velocity != NULL)
            direction = velocity[i] = attr[MOMENTUM].f * velocity[i] +
                                      direction;
        weight[i] -= update_rate(r) * direction;
    }
    mask_weights(r);
}

static const Kernel kernels[] = {
    { .name = "", .results = "", .cost = cost, .launch = launch,
      .reference = reference },
    { .results = NULL },
};

const Op op_rmsprop = {
    ROW(rmsprop), .args = args, .attrs = attrs, .build = build, .state = state,
    .kernels = kernels,
};
