// adam: moments of the gradient, with PyTorch's meaning of its arguments.
//
// weight_decay is PyTorch's Adam's (added to the gradient), not AdamW's.  The
// corrections of the first steps count updates, not steps: a skipped step has
// not moved the moments.  The rate is read from the header on the device,
// where the caller may change it; the argument is its first value.
#include <math.h>
#include "../op_row.h"
#include "../rules.h"

enum { RATE, BETA1, BETA2, EPSILON, DECAY, ATTR_COUNT };
enum { WEIGHT, GRADIENT_OF_WEIGHT, MEAN, SQUARE };  // operands

static const ArgSpec args[] = {
    { "lr", ARG_FLOAT, "1e-3", 0, 1e30, "the learning rate" },
    { "beta1", ARG_FLOAT, "0.9", 0, 1, "how much of the mean gradient is "
      "kept, below 1" },
    { "beta2", ARG_FLOAT, "0.999", 0, 1, "how much of the mean square is "
      "kept, below 1" },
    { "epsilon", ARG_FLOAT, "1e-8", 0, 1e30, "added to the root of the mean "
      "square" },
    { "weight_decay", ARG_FLOAT, "0", 0, 1e30, "this times the weight is "
      "added to its gradient" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "lr", ATTR_FLOAT }, { "beta1", ATTR_FLOAT }, { "beta2", ATTR_FLOAT },
    { "epsilon", ATTR_FLOAT }, { "weight_decay", ATTR_FLOAT },
    { .name = NULL },
};
static const char *const state[] = { "m", "v", NULL };

static ValueId build(Build *b)
{
    Graph *g = b->g;
    for (int i = BETA1; i <= BETA2; i++) {
        if (b->arg[i].f < 1) continue;
        error(g->diag, b->arg[i].pos, "%s must be below 1", args[i].name);
        return NONE;
    }
    for (int i = 0; i < ATTR_COUNT; i++)
        g->optimizer_attr[i].f = b->arg[i].f;
    g->optimizer_states = 2;
    return NONE;
}

// Two operations for the decay, three and four for the moments, five for the
// step; weight and moments are written as well as read.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    const Value *weight = &g->values[n->operands[WEIGHT]];
    cost->flops = 14 * elements(weight->shape);
    cost->bytes = cost_bytes(g, n) + 3 * value_bytes(weight);
}

// 1 - beta is rounded here, not beta: a float near 0 has more digits.
static void launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->operands[WEIGHT]].shape);
    launch_elements(l, "adam_update", count);
    launch_value(l, n->operands[WEIGHT]);
    launch_value(l, n->operands[GRADIENT_OF_WEIGHT]);
    launch_value(l, n->operands[MEAN]);
    launch_value(l, n->operands[SQUARE]);
    launch_header(l);
    launch_real(l, 1 - n->attr[BETA1].f, "1 - beta1");
    launch_real(l, 1 - n->attr[BETA2].f, "1 - beta2");
    launch_real(l, n->attr[EPSILON].f, "epsilon");
    launch_real(l, decay_of(g, n->operands[WEIGHT], n->attr[DECAY].f),
                "weight_decay");
    launch_int(l, count, "count");
}

static void reference(const Ref *r)
{
    const Attr *attr = r->n->attr;
    double beta1 = attr[BETA1].f, beta2 = attr[BETA2].f;
    double t = r->header[HEADER_UPDATES] + 1;
    double decay = decay_of(r->g, r->n->operands[WEIGHT], attr[DECAY].f);
    double *weight = r->in[WEIGHT], *m = r->in[MEAN], *v = r->in[SQUARE];
    if (r->header[HEADER_SKIP] != 0) return;
    for (int64_t i = 0; i < elements(ref_in(r, WEIGHT)); i++) {
        double g = r->in[GRADIENT_OF_WEIGHT][i] + decay * weight[i];
        m[i] = beta1 * m[i] + (1 - beta1) * g;
        v[i] = beta2 * v[i] + (1 - beta2) * g * g;
        double mean = m[i] / (1 - pow(beta1, t));
        double square = v[i] / (1 - pow(beta2, t));
        double step = mean / (sqrt(square) + attr[EPSILON].f);
        weight[i] -= r->header[HEADER_RATE] * step;
    }
}

static const Part parts[] = {
    { .name = "", .results = "", .cost = cost, .launch = launch,
      .reference = reference },
    { .results = NULL },
};

const Op op_adam = {
    ROW(adam), .args = args, .attrs = attrs, .build = build, .state = state,
    .parts = parts,
};
