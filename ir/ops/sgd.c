// sgd: stochastic gradient descent, with PyTorch's meaning of the arguments.
//
// Without momentum there is no state.  The momentum starts at 0, so that after
// the first step it is the gradient.  The rate is read from the header on the
// device, where the caller may change it; the argument is its initial value.
#include "../families/momentum.h"
#include "../op/op_row.h"
#include "../families/optimizer.h"
#include "../op/op_checks.h"

enum { RATE, MOMENTUM, NESTEROV, DECAY };
enum { VELOCITY = FIRST_STATE };        // operand
enum { MOVE_MOMENTUM = 1 };             // operand of part move

static const ArgSpec args[] = {
    { "lr", ARG_FLOAT, NULL, 0, 1e30, "the learning rate" },
    { "momentum", ARG_FLOAT, "0", 0, 1e30, "decay of the accumulated "
      "direction" },
    { "nesterov", ARG_BOOL, "false", 0, 1, "true: Nesterov momentum" },
    { "weight_decay", ARG_FLOAT, "0", 0, 1e30, "this times the weight is "
      "added to its gradient" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "lr", ATTR_FLOAT, 0, 0 }, { "momentum", ATTR_FLOAT, 0, 0 },
    { "nesterov", ATTR_INT, 0, 0 }, { "weight_decay", ATTR_FLOAT, 0, 0 },
    { .name = NULL },
};
static const char *const state[] = { "momentum", NULL };

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (b->arg[NESTEROV].i && b->arg[MOMENTUM].f == 0) {
        error(g->diag, b->arg[NESTEROV].pos, "nesterov needs a momentum");
        return NONE;
    }
    take_attrs(b, g->training.optimizer_attr);
    g->training.optimizer_states = b->arg[MOMENTUM].f != 0;
    return NONE;
}

// A multiplication and an addition each for the decay, the momentum and the
// step.  Weight and momentum are read and written.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    const Value *weight = &g->values[n->operands[UPDATED_WEIGHT]];
    bool has_state = n->operands[VELOCITY] != NONE;
    cost->flops = (has_state ? 6 : 4) * elements(weight->shape);
    cost->bytes = cost_bytes(g, n);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_update(g, n, l, "sgd_update");
    launch_arrays(g, n, l, "SgdArrays", n->attr[DECAY].f);
    launch_real(l, n->attr[MOMENTUM].f, "momentum");
    launch_int(l, n->attr[NESTEROV].i, "nesterov");
    launch_last(l);
}

static void reference(const Ref *r)
{
    const Attr *attr = r->n->attr;
    double momentum = attr[MOMENTUM].f;
    double decay = decay_of(r->g, r->n->operands[UPDATED_WEIGHT],
                            attr[DECAY].f);
    double *weight = r->in[UPDATED_WEIGHT], *velocity = r->in[VELOCITY];
    if (r->header[HEADER_SKIP] != 0) return;
    for (int64_t i = 0; i < update_count(r->g, r->n); i++) {
        double g = update_gradient(r, i) + decay * weight[i];
        double direction = g;
        if (velocity != NULL) {
            velocity[i] = momentum * velocity[i] + g;
            direction = attr[NESTEROV].i ? g + momentum * velocity[i]
                                         : velocity[i];
        }
        weight[i] -= update_rate(r) * direction;
    }
    mask_weights(r);
}

// ---- part move, after the gradient was added to the momentum ----------------

static bool momentum(const Graph *g, Momentum *m)
{
    const Attr *attr = g->training.optimizer_attr;
    *m = (Momentum){ attr[MOMENTUM].f, attr[DECAY].f };
    return g->training.optimizer_states == 1 && !attr[NESTEROV].i &&
           g->training.clip_norm == 0 && !is_scaled(g);
}

static void move_cost(const Graph *g, const Node *n, Cost *cost)
{
    const Value *weight = &g->values[n->operands[UPDATED_WEIGHT]];
    cost->flops = 2 * elements(weight->shape);
    cost->bytes = cost_bytes(g, n);
}

static void launch_move(const Graph *g, const Node *n, Launch *l)
{
    launch_elements(l, "sgd_move", update_count(g, n));
    launch_weight_type(g, l);
    Launch *arrays = launch_item(l, "SgdMoved");
    launch_weight_type(g, arrays);
    launch_weight(g, n, arrays);
    launch_value(arrays, n->operands[MOVE_MOMENTUM]);
    launch_rate_factor(g, n, arrays);
    launch_int(arrays, update_count(g, n), NULL);
    launch_header(l);
    launch_last(l);
}

static void move_reference(const Ref *r)
{
    double *weight = r->in[UPDATED_WEIGHT];
    if (r->header[HEADER_SKIP] != 0) return;
    for (int64_t i = 0; i < update_count(r->g, r->n); i++)
        weight[i] -= update_rate(r) * r->in[MOVE_MOMENTUM][i];
    mask_weights(r);
}

static const Kernel kernels[] = {
    { .name = "", .results = "", .cost = cost, .launch = launch,
      .reference = reference },
    { .name = "move", .operands = "weight! momentum header pruned*",
      .results = "",
      .cost = move_cost, .launch = launch_move, .reference = move_reference },
    { .results = NULL },
};

const Op op_sgd = {
    ROW(sgd), .args = args, .attrs = attrs, .build = build, .state = state,
    .momentum = momentum, .kernels = kernels,
};
