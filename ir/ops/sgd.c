// sgd: stochastic gradient descent, with PyTorch's meaning of its arguments.
//
// Without momentum there is no state.  The first step's momentum is the
// gradient: the buffer starts at zero.  The rate is read from the header on
// the device, where the caller may change it; the argument is its first value.
#include "../op_row.h"
#include "../rules.h"

enum { RATE, MOMENTUM, NESTEROV, DECAY };
enum { WEIGHT, GRADIENT_OF_WEIGHT, VELOCITY };  // operands

static const ArgSpec args[] = {
    { "lr", ARG_FLOAT, NULL, 0, 1e30, "the learning rate" },
    { "momentum", ARG_FLOAT, "0", 0, 1e30, "how much of the last direction "
      "is kept" },
    { "nesterov", ARG_BOOL, "false", 0, 1, "whether to look one step ahead" },
    { "weight_decay", ARG_FLOAT, "0", 0, 1e30, "this times the weight is "
      "added to its gradient" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "lr", ATTR_FLOAT }, { "momentum", ATTR_FLOAT }, { "nesterov", ATTR_INT },
    { "weight_decay", ATTR_FLOAT }, { .name = NULL },
};
static const char *const state[] = { "momentum", NULL };

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (b->arg[NESTEROV].i && b->arg[MOMENTUM].f == 0) {
        error(g->diag, b->arg[NESTEROV].pos, "nesterov needs a momentum");
        return NONE;
    }
    g->optimizer_attr[RATE].f = b->arg[RATE].f;
    g->optimizer_attr[MOMENTUM].f = b->arg[MOMENTUM].f;
    g->optimizer_attr[NESTEROV].i = b->arg[NESTEROV].i;
    g->optimizer_attr[DECAY].f = b->arg[DECAY].f;
    g->optimizer_states = b->arg[MOMENTUM].f != 0;
    return NONE;
}

// A multiplication and an addition each for the decay, the momentum and the
// step; weight and momentum are written as well as read.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    const Value *weight = &g->values[n->operands[WEIGHT]];
    bool has_state = n->operands[VELOCITY] != NONE;
    cost->flops = (has_state ? 6 : 4) * elements(weight->shape);
    cost->bytes = cost_bytes(g, n) + (has_state ? 2 : 1) * value_bytes(weight);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->operands[WEIGHT]].shape);
    launch_elements(l, "sgd_update", count);
    launch_value(l, n->operands[WEIGHT]);
    launch_value(l, n->operands[GRADIENT_OF_WEIGHT]);
    launch_value(l, n->operands[VELOCITY]);
    launch_header(l);
    launch_real(l, n->attr[MOMENTUM].f, "momentum");
    launch_int(l, n->attr[NESTEROV].i, "nesterov");
    launch_real(l, decay_of(g, n->operands[WEIGHT], n->attr[DECAY].f),
                "weight_decay");
    launch_int(l, count, "count");
}

static void reference(const Ref *r)
{
    const Attr *attr = r->n->attr;
    double momentum = attr[MOMENTUM].f;
    double decay = decay_of(r->g, r->n->operands[WEIGHT], attr[DECAY].f);
    double *weight = r->in[WEIGHT], *velocity = r->in[VELOCITY];
    if (r->header[HEADER_SKIP] != 0) return;
    for (int64_t i = 0; i < elements(ref_in(r, WEIGHT)); i++) {
        double g = r->in[GRADIENT_OF_WEIGHT][i] + decay * weight[i];
        double direction = g;
        if (velocity != NULL) {
            velocity[i] = momentum * velocity[i] + g;
            direction = attr[NESTEROV].i ? g + momentum * velocity[i]
                                         : velocity[i];
        }
        weight[i] -= r->header[HEADER_RATE] * direction;
    }
}

static const Part parts[] = {
    { .name = "", .results = "", .cost = cost, .launch = launch,
      .reference = reference },
    { .results = NULL },
};

const Op op_sgd = {
    ROW(sgd), .args = args, .attrs = attrs, .build = build, .state = state,
    .parts = parts,
};
