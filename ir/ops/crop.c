// crop: removes the margin of a map.  The gradient pads with zeros.
#include "../families/box_copy.h"
#include "../families/padding.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum Args { PADDING };

static const ArgSpec args[] = {
    { "padding", ARG_PADDING, NULL, 0, WIDEST_MARGIN,
      "rows and columns that are taken away at each side" },
    { .name = NULL },
};
static const AttrSpec attrs[] = { MARGIN_ATTRS, { .name = NULL } };

static ValueId build(Build *b)
{
    Attr attr[MAX_ATTRS] = { { 0 } };
    if (!build_margin(b, &b->arg[PADDING], attr)) return NONE;
    Shape left = with_margin(b->g->values[b->operand[0]].shape, attr, -1);
    if (left.dim[1] < 1 || left.dim[2] < 1) {
        error(b->g->diag, b->arg[PADDING].pos, "crop leaves nothing of a map "
              "%s: it takes away %lld rows and %lld columns",
              operand_text(b, 0), (long long)attr[TOP].i + attr[BOTTOM].i,
              (long long)attr[LEFT].i + attr[RIGHT].i);
        return NONE;
    }
    return build_node(b, 1, b->operand, attr, left);
}

static Shape shape(const Graph *g, const Node *n)
{
    return has_rank(g, n, 0, 4)
        ? with_margin(g->values[n->operands[0]].shape, n->attr, -1)
        : shape_of(0);
}

static void gradient(Gradient *c)
{
    gradient_box(c, &op_crop);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_margin(g, n, l, -1, 0);
}

static void reference(const Ref *r)
{
    ref_margin(r, -1, 0);
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_margin(g, n, l, 1, 0);
}

static void grad_reference(const Ref *r)
{
    ref_margin(r, 1, 0);
}

static const Kernel kernels[] = { BOX_KERNELS };

const Op op_crop = {
    ROW(crop), .args = args, .attrs = attrs, .build = build, .shape = shape,
    .simplify = simplify_margin, .gradient = gradient, .kernels = kernels,
};
