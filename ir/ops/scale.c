// scale: y = factor * x; converts integers to real numbers.
//
// The gradient is the same operation on dy.  A factor of 1 on real numbers is
// the identity.  Two scales are merged if both factors are powers of two and at
// least 1, since then neither rounds:
//
//   %2 = scale(%1) factor=2    %3 = scale(%2) factor=4
// becomes
//   %3 = scale(%1) factor=8
//
// Other pairs stay: their product would round once instead of twice, and avoid
// an overflow or underflow between them.
#include <math.h>
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { FACTOR };
#define LARGEST 1e30

static const ArgSpec args[] = {
    { "factor", ARG_FLOAT, NULL, -LARGEST, LARGEST, "factor of every "
      "element" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "factor", ATTR_FLOAT, 0, 0 }, { .name = NULL },
};

static ValueId build(Build *b)
{
    Graph *g = b->g;
    const Value *x = &g->values[b->operand[0]];
    if (x->classes > 0) {
        error(g->diag, b->operand_pos[0], "a class label can't be scaled");
        return NONE;
    }
    Attr attr[] = { [FACTOR] = { .f = b->arg[FACTOR].f } };
    return build_node(b, 1, b->operand, attr, x->shape);
}

// True if multiplication by factor is exact, except for overflow.
static bool is_exact(double factor)
{
    int exponent;
    return factor >= 1 && frexp(factor, &exponent) == 0.5;
}

static ValueId simplify(Graph *g, NodeId id)
{
    Node *n = &g->nodes[id];
    NodeId maker = g->values[n->operands[0]].def;
    double before = maker != NONE && g->nodes[maker].op == &op_scale
        ? g->nodes[maker].attr[FACTOR].f : NAN;
    // The product must be allowed in a call.
    if (is_exact(before) && is_exact(n->attr[FACTOR].f) &&
        n->attr[FACTOR].f * before <= LARGEST) {
        n->attr[FACTOR].f *= before;
        n->operands[0] = g->nodes[maker].operands[0];
    }
    bool changes = n->attr[FACTOR].f != 1 ||
                   g->values[n->operands[0]].dtype != g->real;
    return changes ? NONE : n->operands[0];
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId dy = gradient_of_result(c, 0);
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, &op_scale, 0, 1, &dy, 1, &dx);
    gradient_add(c, 0, dx);
}

static void launch_scaled(const Graph *g, const Node *n, Launch *l)
{
    (void)g;
    launch_type_of(l, n->operands[0]);
    launch_value(l, n->operands[0]);
    launch_real(l, n->attr[FACTOR].f, "factor");
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->results[0]].shape);
    launch_elements(l, "scale_forward", count);
    launch_value(l, n->results[0]);
    launch_scaled(g, n, l);
    launch_result_type(l, n->results[0]);
    launch_int(l, count, "count");
}

static bool load(const Graph *g, const Node *n, Launch *l)
{
    launch_struct(l, "ScaleLoad");
    launch_scaled(g, n, l);
    return true;
}

static void reference(const Ref *r)
{
    int64_t count = elements(ref_out(r, 0));
    for (int64_t i = 0; i < count; i++)
        r->out[0][i] = r->n->attr[FACTOR].f * r->in[0][i];
}

static const Kernel kernels[] = {
    { .name = "", .results = "y^%", .in_place = "y/x",
      .cost = cost_elementwise, .launch = launch, .load_work = 1, .load = load,
      .reference = reference },
    { .results = NULL },
};

const Op op_scale = {
    ROW(scale), .args = args, .attrs = attrs, .build = build,
    .simplify = simplify, .gradient = gradient, .kernels = kernels,
};
