// detach: the same values, through which no gradient passes.
//
// It is a view.  Without training it is nothing at all.
#include "../op/op_row.h"

static Shape shape(const Graph *g, const Node *n)
{
    return g->values[n->operands[0]].shape;
}

static ValueId build(Build *b)
{
    const Value *x = &b->g->values[b->operand[0]];
    if (x->classes > 0) {
        error(b->g->diag, b->operand_pos[0], "a class label has no gradient");
        return NONE;
    }
    return build_node(b, 1, b->operand, NULL, x->shape);
}

static ValueId simplify(Graph *g, NodeId id)
{
    return g->mode == TRAIN ? NONE : g->nodes[id].operands[0];
}

static const Kernel kernels[] = {
    { .name = "", .results = "y", .cost = cost_view },
    { .results = NULL },
};

const Op op_detach = {
    ROW(detach), .build = build, .shape = shape, .simplify = simplify,
    .kernels = kernels,
};
