// slice: a part of a value along one axis.
//
// The gradient is dy at the place of the part, and zero elsewhere: the same
// copy with operand and result exchanged.
#include <inttypes.h>
#include "../families/box_copy.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum Args { ARG_START, ARG_SIZE, ARG_AXIS };
enum Attrs { AXIS, START, SIZE };

static const ArgSpec args[] = {
    { "start", ARG_INT, NULL, 0, 1LL << 40, "index of the first element" },
    { "size", ARG_INT, NULL, 1, 1LL << 40, "number of elements" },
    AXIS_ARG("of the slice"),
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "axis", ATTR_INT, 1, MAX_RANK - 1 }, { "start", ATTR_INT, 0, 0 },
    { "size", ATTR_INT, 0, 0 }, { .name = NULL },
};

static Shape cut(Shape x, const Attr *attr)
{
    x.dim[attr[AXIS].i] = attr[SIZE].i;
    return x;
}

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (!build_wants_real(b, 0)) return NONE;
    Shape x = g->values[b->operand[0]].shape;
    int axis = build_axis(b, &b->arg[ARG_AXIS]);
    if (axis == NONE) return NONE;
    int64_t start = b->arg[ARG_START].i, size = b->arg[ARG_SIZE].i;
    if (start + size > x.dim[axis]) {
        error(g->diag, b->arg[start >= x.dim[axis] ? ARG_START : ARG_SIZE].pos,
              "slice needs %" PRId64 " from %" PRId64 " on, but %s has %" PRId64
              " along %s", size, start, operand_text(b, 0), x.dim[axis],
              b->arg[ARG_AXIS].word);
        return NONE;
    }
    Attr attr[] = {
        [AXIS] = { .i = axis }, [START] = { .i = start },
        [SIZE] = { .i = size },
    };
    return build_node(b, 1, b->operand, attr, cut(x, attr));
}

static Shape shape(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[0]].shape;
    int64_t axis = n->attr[AXIS].i, end = n->attr[START].i + n->attr[SIZE].i;
    return axis < x.rank && end <= x.dim[axis] ? cut(x, n->attr) : shape_of(0);
}

// Returns x if the slice is all of it.
static ValueId simplify(Graph *g, NodeId id)
{
    const Node *n = &g->nodes[id];
    Shape x = g->values[n->operands[0]].shape;
    return same_shape(x, cut(x, n->attr)) ? n->operands[0] : NONE;
}

static void gradient(Gradient *c)
{
    gradient_box(c, &op_slice);
}

// Returns the box of a part; sign is -1 for the gradient.
static Box box_of(const Graph *g, const Node *n, int sign)
{
    return box_along(g->values[n->operands[0]].shape,
                     g->values[n->results[0]].shape, (int)n->attr[AXIS].i,
                     sign * n->attr[START].i);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_box(l, n, box_of(g, n, 1), 0);
}

static Slice place(const Graph *g, const Node *n, int k)
{
    (void)k;
    return slice_of_box(box_of(g, n, 1));
}

static void reference(const Ref *r)
{
    ref_box(r, box_of(r->g, r->n, 1), 0);
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_box(l, n, box_of(g, n, -1), 0);
}

static void grad_reference(const Ref *r)
{
    ref_box(r, box_of(r->g, r->n, -1), 0);
}

static const Kernel kernels[] = {
    { .name = "", .results = "y/", .cost = cost_box, .launch = launch,
      .reference = reference, .slice = place },
    BOX_GRADIENT,
    { .results = NULL },
};

const Op op_slice = {
    ROW(slice), .args = args, .attrs = attrs, .build = build, .shape = shape,
    .simplify = simplify, .gradient = gradient, .kernels = kernels,
};
