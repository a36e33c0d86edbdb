// add: y = a + b, in the net (residual connections) and for sums of gradients.
//
// The gradient of a sum is dy for both operands: no launch, the same value is
// contributed twice.  An activation may be applied as the sum is stored.
#include "../act.h"
#include "../op_row.h"
#include "../rules.h"

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (!build_wants_real(b, 0) || !build_wants_real(b, 1)) return NONE;

    Shape shape = g->values[b->operand[0]].shape;
    if (!same_shape(shape, g->values[b->operand[1]].shape)) {
        error(g->diag, b->pos, "add wants equal shapes, but these are %s and "
              "%s", operand_text(b, 0), operand_text(b, 1));
        return NONE;
    }
    return build_node(b, 2, b->operand, NULL, shape);
}

static void gradient(Gradient *c)
{
    ValueId dz = act_gradient(c);
    for (int k = 0; k < 2; k++)
        if (gradient_wanted(c, k)) gradient_add(c, k, dz);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->results[0]].shape);
    launch_elements(l, "add_forward", count);
    launch_act(l, n);
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[0]);
    launch_value(l, n->operands[1]);
    launch_int(l, count, "count");
}

static void reference(const Ref *r)
{
    int64_t count = elements(ref_out(r, 0));
    for (int64_t i = 0; i < count; i++)
        r->out[0][i] = ref_act(r, r->in[0][i] + r->in[1][i]);
}

static const Part parts[] = {
    { .name = "", .results = "y", .in_place = "y/a y/b",
      .cost = cost_elementwise, .launch = launch, .reference = reference },
    { .results = NULL },
};

const Op op_add = {
    ROW(add), .build = build, .gradient = gradient, .parts = parts,
};
