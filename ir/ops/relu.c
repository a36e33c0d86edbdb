// relu: y = max(x, 0), the model of an operator's file.
//
// In the order in which the compiler asks: what a call may say and what it
// makes (build), how the gradient flows (gradient), then for each kind of
// launch its cost, its launch and its scalar reference, gathered in `parts`,
// and at the end all of it beside the operator's row.
//
// The gradient needs the result alone, so the operand can be forgotten or
// overwritten, and other operators can apply it as they store (ACT).
#include "../op_row.h"
#include "../rules.h"

static ValueId build(Build *b)
{
    if (!build_wants_real(b, 0)) return NONE;
    Shape shape = b->g->values[b->operand[0]].shape;
    return build_node(b, 1, b->operand, NULL, shape);
}

// A NaN stays one.
static double relu(double x)
{
    return x < 0 ? 0 : x;
}

static double relu_gradient(double dy, double y)
{
    return y <= 0 ? 0 : dy;
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId operands[] = { gradient_of_result(c, 0),
                           c->g->nodes[c->node].results[0] };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, &op_relu, 1, 2, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

// ---- forward ---------------------------------------------------------------

static void launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->results[0]].shape);
    launch_elements(l, "relu_forward", count);
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[0]);
    launch_int(l, count, "count");
}

static void reference(const Ref *r)
{
    int64_t count = elements(ref_out(r, 0));
    for (int64_t i = 0; i < count; i++) r->out[0][i] = relu(r->in[0][i]);
}

// ---- grad ------------------------------------------------------------------

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->results[0]].shape);
    launch_elements(l, "relu_gradient", count);
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[0]);
    launch_value(l, n->operands[1]);
    launch_int(l, count, "count");
}

static void grad_reference(const Ref *r)
{
    int64_t count = elements(ref_out(r, 0));
    for (int64_t i = 0; i < count; i++)
        r->out[0][i] = relu_gradient(r->in[0][i], r->in[1][i]);
}

static const Part parts[] = {
    { .name = "", .results = "y", .in_place = "y/x",
      .cost = cost_elementwise, .launch = launch, .reference = reference },
    { .name = "grad", .operands = "dy y", .results = "dx",
      .in_place = "dx/dy dx/y", .cost = cost_elementwise,
      .launch = grad_launch, .reference = grad_reference },
    { .results = NULL },
};

const Op op_relu = {
    ROW(relu), .build = build, .gradient = gradient,
    .act = relu, .act_gradient = relu_gradient, .parts = parts,
};
