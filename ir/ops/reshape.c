// reshape: the same elements in the same order, with another shape.
//
// It is a view, like flatten, and so is its gradient: the shape is that of the
// result value.
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { SHAPE };

static const ArgSpec args[] = {
    { "shape", ARG_LIST, NULL, 1, 1LL << 40, "shape of a sample: [h, w, c]" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "shape", ATTR_LIST, 0, 0 }, { .name = NULL },
};

static Shape reshaped(Shape x, const List *list)
{
    Shape shape = { .rank = 1 + list->count, .dim = { x.dim[0] } };
    for (int i = 0; i < list->count; i++)
        shape.dim[1 + i] = (int64_t)list->at[i];
    return shape;
}

static bool is_shape(Build *b)
{
    const List *list = b->arg[SHAPE].list;
    bool whole = list->count >= 1 && list->count < MAX_RANK;
    for (int i = 0; i < list->count; i++)
        whole &= list->at[i] == (double)(int64_t)list->at[i];
    if (whole) return true;
    error(b->g->diag, b->arg[SHAPE].pos,
          "a shape is a list of 1 to %d integers", MAX_RANK - 1);
    return false;
}

static int64_t count_of(const List *list)
{
    int64_t count = 1;
    for (int i = 0; i < list->count; i++)
        count = capped_product(count, (int64_t)list->at[i]);
    return count;
}

static ValueId build(Build *b)
{
    Graph *g = b->g;
    const Value *x = &g->values[b->operand[0]];
    if (x->classes > 0) {
        error(g->diag, b->operand_pos[0], "a class label can't be reshaped");
        return NONE;
    }
    if (!is_shape(b)) return NONE;
    const List *list = b->arg[SHAPE].list;
    int64_t count = elements(x->shape) / x->shape.dim[0];
    if (count_of(list) != count) {
        error(g->diag, b->arg[SHAPE].pos, "reshape keeps the number of "
              "elements, but %s has %lld and this shape %lld",
              operand_text(b, 0), (long long)count, (long long)count_of(list));
        return NONE;
    }
    Attr attr[] = { [SHAPE] = { .list = list } };
    return build_node(b, 1, b->operand, attr, reshaped(x->shape, list));
}

static Shape shape(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[0]].shape;
    const List *list = n->attr[SHAPE].list;
    bool fits = list != NULL && list->count < MAX_RANK && x.rank > 0 &&
                count_of(list) == elements(x) / x.dim[0];
    return fits ? reshaped(x, list) : shape_of(0);
}

static ValueId simplify(Graph *g, NodeId id)
{
    const Node *n = &g->nodes[id];
    bool same = same_shape(g->values[n->operands[0]].shape, shape(g, n));
    return same ? n->operands[0] : NONE;
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId dy = gradient_of_result(c, 0);
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, &op_reshape, 1, 1, &dy, 1, &dx);
    gradient_add(c, 0, dx);
}

static const Kernel kernels[] = {
    { .name = "", .results = "y", .cost = cost_view },
    { .name = "grad", .operands = "dy", .results = "dx", .cost = cost_view },
    { .results = NULL },
};

const Op op_reshape = {
    ROW(reshape), .args = args, .attrs = attrs, .build = build, .shape = shape,
    .simplify = simplify, .gradient = gradient, .kernels = kernels,
};
