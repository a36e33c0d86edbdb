// pad: adds a margin of one value around a map.  The gradient crops it.
#include "../families/box_copy.h"
#include "../families/padding.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum Args { PADDING, ARG_FILL };
enum Attrs { FILL = RIGHT + 1 };

static const ArgSpec args[] = {
    { "padding", ARG_PADDING, NULL, 0, WIDEST_MARGIN,
      "rows and columns that are put around the map" },
    { "value", ARG_FLOAT, "0", -1e30, 1e30, "their value" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    MARGIN_ATTRS, { "value", ATTR_FLOAT, 0, 0 }, { .name = NULL },
};

static ValueId build(Build *b)
{
    Attr attr[MAX_ATTRS] = { [FILL] = { .f = b->arg[ARG_FILL].f } };
    if (!build_margin(b, &b->arg[PADDING], attr)) return NONE;
    return build_node(b, 1, b->operand, attr,
                      with_margin(b->g->values[b->operand[0]].shape, attr, 1));
}

static Shape shape(const Graph *g, const Node *n)
{
    return has_rank(g, n, 0, 4)
        ? with_margin(g->values[n->operands[0]].shape, n->attr, 1)
        : shape_of(0);
}

static void gradient(Gradient *c)
{
    gradient_box(c, &op_pad);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_margin(g, n, l, 1, n->attr[FILL].f);
}

static void reference(const Ref *r)
{
    ref_margin(r, 1, r->n->attr[FILL].f);
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_margin(g, n, l, -1, 0);
}

static void grad_reference(const Ref *r)
{
    ref_margin(r, -1, 0);
}

static const Kernel kernels[] = { BOX_KERNELS };

const Op op_pad = {
    ROW(pad), .args = args, .attrs = attrs, .build = build, .shape = shape,
    .simplify = simplify_margin, .gradient = gradient, .kernels = kernels,
};
