// take_rows: a slice of the samples of a batch, made by pass batch_split.
//
//   %5 a = take_rows(%4 x) size=8     %6 b = take_rows(%4 x) start=8 size=8
// a and b alias x if pass elide_copies allows it, and nothing is copied.  If
// consecutive nodes take all of x, its gradient is the concat of theirs;
// otherwise it is a sum of dy's, each padded with zeros.
#include "../families/box_copy.h"
#include "../dtype.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum Attrs { START, SIZE };

static const AttrSpec attrs[] = {
    { "start", ATTR_INT, 0, 0x1p40 }, { "size", ATTR_INT, 1, 0x1p40 },
    { .name = NULL },
};

static Shape shape(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[0]].shape;
    if (x.rank < 1 || n->attr[START].i + n->attr[SIZE].i > x.dim[0])
        return shape_of(0);
    x.dim[0] = n->attr[SIZE].i;
    return x;
}

// ---- the gradient -----------------------------------------------------------

static bool follows(const Node *n, const Node *before)
{
    return n->op == before->op && n->kernel == 0 && before->kernel == 0 &&
           n->operands[0] == before->operands[0] &&
           n->attr[START].i == before->attr[START].i + before->attr[SIZE].i;
}

// Returns the first of consecutive nodes that together take all of the operand
// of the gradient's node, and sets *count to their number.  NONE if there are
// none, if one has no gradient, or if there are too many to concat.
static NodeId find_row(const Gradient *c, int *count)
{
    const Graph *g = c->g;
    NodeId first = c->node, end = c->node + 1;
    while (first > 0 && follows(&g->nodes[first], &g->nodes[first - 1]))
        first--;
    while (end < g->node_count &&
           follows(&g->nodes[end], &g->nodes[end - 1])) end++;
    const Node *n = &g->nodes[first], *last = &g->nodes[end - 1];
    *count = end - first;
    if (n->attr[START].i != 0 || *count > MAX_SLOTS / 2 ||
        last->attr[START].i + last->attr[SIZE].i !=
            g->values[n->operands[0]].shape.dim[0])
        return NONE;
    for (NodeId i = first; i < end; i++)
        if (c->d[g->nodes[i].results[0]] == NONE) return NONE;
    return first;
}

// The first node of a row is visited last, and makes the gradient.
static void gradient(Gradient *c)
{
    int count;
    NodeId first = find_row(c, &count);
    if (!gradient_wanted(c, 0)) return;
    if (first == NONE) {
        gradient_box(c, &op_slice_batch);
        return;
    }
    if (first != c->node) return;
    ValueId part[MAX_SLOTS];
    for (int k = 0; k < count; k++)
        part[k] = c->d[c->g->nodes[first + k].results[0]];
    ValueId dx = gradient_value(c, 0);
    NodeId id = gradient_node(c, &op_concat, 0, count, part, 1, &dx);
    for (int k = 0; k < MAX_ATTRS; k++)
        c->g->nodes[id].attr[k] = (Attr){ .i = 0 };
    gradient_add(c, 0, dx);
}

// ---- launches ---------------------------------------------------------------

static Box box_of(const Graph *g, const Node *n, int sign)
{
    return box_along(g->values[n->operands[0]].shape,
                     g->values[n->results[0]].shape, 0,
                     sign * n->attr[START].i);
}

// Bytes are never computed on load.
static void launch(const Graph *g, const Node *n, Launch *l)
{
    Box box = box_of(g, n, 1);
    launch_elements(l, "rows_copy", box.columns[RESULT]);
    launch_value(l, n->results[0]);
    if (has_reals(&g->values[n->operands[0]])) {
        launch_load(l, n, 0);
        launch_result_type(l, n->results[0]);
    } else {
        launch_type(l, "const uint8_t *");
        launch_type(l, "uint8_t *");
        launch_value(l, n->operands[0]);
    }
    launch_int(l, box.right, "start");
    launch_int(l, box.columns[RESULT], "count");
}

// Only for operands computed on load; for stored ones elide_copies makes a
// view.
static bool load(const Graph *g, const Node *n, Launch *l)
{
    int64_t start = box_of(g, n, 1).right;
    if (is_stored(g, n->operands[0])) return false;
    launch_struct(l, "SomeRows");
    launch_type_int(l, start % 4 == 0 ? 4 : 1);
    launch_load(l, n, 0);
    launch_int(l, start, "start");
    return true;
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
    { .name = "", .results = "y^%", .cost = cost_box, .launch = launch,
      .load_work = 1, .load = load, .reference = reference, .slice = place },
    BOX_GRADIENT,
    { .results = NULL },
};

const Op op_slice_batch = {
    ROW(slice_batch), .attrs = attrs, .shape = shape, .gradient = gradient,
    .kernels = kernels,
};
