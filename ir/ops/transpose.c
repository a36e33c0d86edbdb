// transpose: the axes of a sample in another order.  Axis k of the result is
// axis axes[k] of the operand, as in NumPy.
#include "../families/permute.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { AXES };

static const ArgSpec args[] = {
    { "axes", ARG_LIST, NULL, 0, MAX_RANK - 2,
      "the operand's axis, from 0, of each axis of a sample: [2, 0, 1]" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "axes", ATTR_LIST, 0, 0 }, { .name = NULL },
};

// True if the list has each axis of a sample of this shape once.
static bool is_order_of(const List *axes, Shape x)
{
    unsigned seen = 0;
    for (int k = 0; k < axes->count; k++) {
        double axis = axes->at[k];
        if (axis != (double)(int)axis || axis < 0 || axis >= x.rank - 1)
            return false;
        seen |= 1U << (int)axis;
    }
    return axes->count == x.rank - 1 && seen == (1U << (x.rank - 1)) - 1;
}

static Shape transposed(Shape x, const List *axes)
{
    Shape y = x;
    for (int k = 0; k < axes->count; k++)
        y.dim[1 + k] = x.dim[1 + (int)axes->at[k]];
    return y;
}

static ValueId build(Build *b)
{
    Graph *g = b->g;
    const List *axes = b->arg[AXES].list;
    if (!build_wants_real(b, 0)) return NONE;
    Shape x = g->values[b->operand[0]].shape;
    if (!is_order_of(axes, x)) {
        error(g->diag, b->arg[AXES].pos, "axes has each axis of a sample once; "
              "%s has axes 0 to %d", operand_text(b, 0), x.rank - 2);
        return NONE;
    }
    Attr attr[] = { [AXES] = { .list = axes } };
    return build_node(b, 1, b->operand, attr, transposed(x, axes));
}

static Shape shape(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[0]].shape;
    const List *axes = n->attr[AXES].list;
    return axes != NULL && x.rank > 1 && is_order_of(axes, x)
        ? transposed(x, axes) : shape_of(0);
}

// Returns x if every axis stays.
static ValueId simplify(Graph *g, NodeId id)
{
    const Node *n = &g->nodes[id];
    const List *axes = n->attr[AXES].list;
    for (int k = 0; k < axes->count; k++)
        if ((int)axes->at[k] != k) return NONE;
    return n->operands[0];
}

static Order order_of(Shape x, const Attr *attr)
{
    Order order = { .count = 0 };
    int64_t stride[MAX_RANK];
    stride[x.rank - 1] = 1;
    for (int k = x.rank - 1; k > 0; k--)
        stride[k - 1] = stride[k] * x.dim[k];
    append_axis(&order, x.dim[0], stride[0]);
    for (int k = 0; k < x.rank - 1; k++) {
        int axis = 1 + (int)attr[AXES].list->at[k];
        append_axis(&order, x.dim[axis], stride[axis]);
    }
    return order;
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_permute(g, n, l, order_of);
}

static void reference(const Ref *r)
{
    ref_permute(r, order_of);
}

static const Kernel kernels[] = { PERMUTE_KERNELS };

const Op op_transpose = {
    ROW(transpose), .args = args, .attrs = attrs, .build = build,
    .shape = shape, .simplify = simplify, .gradient = gradient_permute,
    .fits = "a b c; [2, 0, 1] | a b c; [1, 0, 2] | a b; [1, 0] | "
            "a b c; [0, 2, 1]",
    .kernels = kernels,
};
