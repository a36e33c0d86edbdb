// flatten: maps [h, w, c] as vectors [h*w*c].
//
// Channels are innermost in memory, so a flat map has the same bytes: both
// directions are views, without a launch.
#include <string.h>
#include "../op/op_row.h"

static Shape flat(Shape x)
{
    return shape_of(2, x.dim[0], elements(x) / x.dim[0]);
}

static Shape shape(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[0]].shape;
    return x.rank > 1 ? flat(x) : shape_of(0);
}

static ValueId build(Build *b)
{
    Graph *g = b->g;
    const Value *x = &g->values[b->operand[0]];
    if (x->shape.rank < 2) {
        error(g->diag, b->operand_pos[0], "a class label can't be flattened");
        return NONE;
    }
    return build_node(b, 1, b->operand, NULL, flat(x->shape));
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId dy = gradient_of_result(c, 0);
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, &op_flatten, 1, 1, &dy, 1, &dx);
    gradient_add(c, 0, dx);
}

static void reference(const Ref *r)
{
    size_t count = (size_t)elements(ref_out(r, 0));
    memcpy(r->out[0], r->in[0], count * sizeof(double));
}

static const Kernel kernels[] = {
    { .name = "", .results = "y", .cost = cost_view, .reference = reference },
    { .name = "grad", .operands = "dy", .results = "dx", .cost = cost_view,
      .reference = reference },
    { .results = NULL },
};

const Op op_flatten = {
    ROW(flatten), .build = build, .shape = shape, .gradient = gradient,
    .kernels = kernels,
};
