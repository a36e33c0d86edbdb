// concat: joins values along an axis, any number in one launch.
//
// From the axis on, each operand is contiguous in memory.  So operand k is a
// matrix with as many rows as the result, and the result's rows are the rows of
// all operands in turn.  This holds on load too, with operands that may be
// computed on load themselves.  The gradient of an operand is a slice of dy.
//
// Axis 0, of the samples, can't be named in programs: pass batch_split joins
// slices of a batch along it.
#include "../families/box_copy.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

// The pointers and widths of more would exceed a launch's parameters.
enum { MOST = 32 };
enum Args { AXIS_WORD };
enum Attrs { AXIS, START };

static const ArgSpec args[] = {
    AXIS_ARG("along which the values are joined"), { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "axis", ATTR_INT, 0, MAX_RANK - 1 }, { "start", ATTR_INT, 0, 0x1p62 },
    { .name = NULL },
};

// ---- from a call to a node --------------------------------------------------

static bool is_number_right(Build *b)
{
    if (b->operand_count >= 1 && b->operand_count <= MOST) return true;
    error(b->g->diag, b->pos, "concat takes from 1 to %d values, not %d", MOST,
          b->operand_count);
    return false;
}

// True if operand k equals operand 0 in all dimensions except the axis.
static bool fits(Build *b, int k, int axis)
{
    Graph *g = b->g;
    Shape first = g->values[b->operand[0]].shape;
    Shape shape = g->values[b->operand[k]].shape;
    if (shape.rank == first.rank) {
        shape.dim[axis] = first.dim[axis];
        if (same_shape(shape, first)) return true;
    }
    error(g->diag, b->operand_pos[k], "concat along %s needs values with equal "
          "other dimensions, and this is %s after %s", b->arg[AXIS_WORD].word,
          operand_text(b, k), operand_text(b, 0));
    return false;
}

// Returns the shape of the result.  Extents that are too large are reported
// when the result is made.
static Shape joined(const Graph *g, int count, const ValueId *operands,
                    int axis)
{
    enum { DIGITS = 56 };
    Shape shape = g->values[operands[0]].shape;
    for (int k = 1; k < count; k++) {
        shape.dim[axis] += g->values[operands[k]].shape.dim[axis];
        if (shape.dim[axis] >> DIGITS) shape.dim[axis] = INT64_MAX / MOST;
    }
    return shape;
}

static ValueId build(Build *b)
{
    if (!is_number_right(b)) return NONE;
    for (int k = 0; k < b->operand_count; k++)
        if (!build_wants_real(b, k)) return NONE;
    int axis = build_axis(b, &b->arg[AXIS_WORD]);
    if (axis == NONE) return NONE;
    for (int k = 1; k < b->operand_count; k++)
        if (!fits(b, k, axis)) return NONE;
    Attr attr[] = { [AXIS] = { .i = axis }, [START] = { .i = 0 } };
    return build_node(b, b->operand_count, b->operand, attr,
                      joined(b->g, b->operand_count, b->operand, axis));
}

static Shape shape(const Graph *g, const Node *n)
{
    int axis = (int)n->attr[AXIS].i;
    if (n->operand_count < 1) return shape_of(0);
    for (int k = 0; k < n->operand_count; k++) {
        Shape first = g->values[n->operands[0]].shape;
        first.dim[axis] = g->values[n->operands[k]].shape.dim[axis];
        if (axis >= first.rank ||
            !same_shape(first, g->values[n->operands[k]].shape))
            return shape_of(0);
    }
    return joined(g, n->operand_count, n->operands, axis);
}

static ValueId simplify(Graph *g, NodeId id)
{
    const Node *n = &g->nodes[id];
    return n->operand_count == 1 ? n->operands[0] : NONE;
}

static void gradient(Gradient *c)
{
    Graph *g = c->g;
    Node n = g->nodes[c->node];
    int64_t start = 0;
    for (int k = 0; k < n.operand_count; k++) {
        if (gradient_wanted(c, k)) {
            ValueId operands[] = { gradient_of_result(c, 0), NONE };
            ValueId dx = gradient_value(c, k);
            NodeId id = gradient_node(c, &op_concat, 1, 2, operands, 1, &dx);
            g->nodes[id].attr[START].i = start;
            gradient_add(c, k, dx);
        }
        start += g->values[n.operands[k]].shape.dim[n.attr[AXIS].i];
    }
}

// ---- forward ----------------------------------------------------------------

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = 0;
    cost->bytes = cost_bytes(g, n);
}

// Returns the columns of operand k as a matrix of `rows` rows.
static int64_t width_of(const Graph *g, const Node *n, int k, int64_t rows)
{
    return elements(g->values[n->operands[k]].shape) / rows;
}

static int64_t rows_of(Shape y, int64_t axis)
{
    int64_t rows = 1;
    for (int i = 0; i < axis; i++) rows *= y.dim[i];
    return rows;
}

// Adds operand k as a source of `width` columns: Columns<64>, or, if it is no
// plain array, Columns<64, Strided<...>> or Columns<64, Normalized<64, relu>>.
static void launch_columns_of(Launch *l, const Node *n, int k, int64_t width)
{
    launch_load(l, n, k);
    TypeArg *array = &l->type[l->type_count - 1];
    Arena *arena = l->g->arena;
    if (array->source != NULL) {
        Launch *columns = NEW(arena, Launch);
        *columns = (Launch){ .g = l->g, .node = array->source->node };
        launch_struct(columns, "Columns");
        launch_type_int(columns, width);
        launch_type_as(columns, *array);
        *array = (TypeArg){ .source = columns };
        return;
    }
    const char *type = array->text == plain_source
                           ? "" : arena_print(arena, ", %s", array->text);
    array->text = arena_print(arena, "Columns<%lld%s>", (long long)width, type);
}

static void launch_sources(const Graph *g, const Node *n, int64_t rows,
                           Launch *l)
{
    for (int k = 0; k < n->operand_count; k++)
        launch_columns_of(l, n, k, width_of(g, n, k, rows));
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    Shape y = g->values[n->results[0]].shape;
    int64_t rows = rows_of(y, n->attr[AXIS].i);
    bool vectors = true;
    for (int k = 0; k < n->operand_count; k++)
        vectors &= width_of(g, n, k, rows) % 4 == 0;
    launch_elements(l, "concat_forward", elements(y) / (vectors ? 4 : 1));
    launch_constant(l, "ROWS", rows);
    launch_constant(l, "VEC", vectors ? 4 : 1);
    launch_result_type(l, n->results[0]);
    launch_value(l, n->results[0]);
    launch_sources(g, n, rows, l);
}

static bool load(const Graph *g, const Node *n, Launch *l)
{
    int64_t rows = rows_of(g->values[n->results[0]].shape, n->attr[AXIS].i);
    if (n->attr[AXIS].i == 0) return false;
    launch_struct(l, "Joined");
    launch_constant(l, "ROWS", rows);
    launch_sources(g, n, rows, l);
    return true;
}

static Slice place(const Graph *g, const Node *n, int k)
{
    Shape y = g->values[n->results[0]].shape;
    int64_t rows = rows_of(y, n->attr[AXIS].i), start = 0;
    for (int j = 0; j < k; j++) start += width_of(g, n, j, rows);
    return (Slice){ .rows = rows, .width = width_of(g, n, k, rows),
                    .stride = elements(y) / rows, .start = start };
}

// Copies each operand to its place.
static void reference(const Ref *r)
{
    int axis = (int)r->n->attr[AXIS].i;
    Shape y = ref_out(r, 0);
    int64_t inner = 1, start = 0;
    for (int i = axis + 1; i < y.rank; i++) inner *= y.dim[i];
    for (int k = 0; k < r->n->operand_count; k++) {
        Shape x = ref_in(r, k);
        for (int64_t i = 0; i < elements(x); i++) {
            int64_t row = i / inner / x.dim[axis];
            int64_t at = start + i / inner % x.dim[axis];
            r->out[0][(row * y.dim[axis] + at) * inner + i % inner] =
                r->in[k][i];
        }
        start += x.dim[axis];
    }
}

// ---- grad -------------------------------------------------------------------

static Box box_of(const Graph *g, const Node *n)
{
    return box_along(g->values[n->operands[0]].shape,
                     g->values[n->results[0]].shape, (int)n->attr[AXIS].i,
                     n->attr[START].i);
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_box(l, n, box_of(g, n), 0);
}

static void grad_reference(const Ref *r)
{
    ref_box(r, box_of(r->g, r->n), 0);
}

static Slice grad_place(const Graph *g, const Node *n, int k)
{
    (void)k;
    return slice_of_box(box_of(g, n));
}

static const Kernel kernels[] = {
    { .name = "", .results = "y/", .cost = cost, .launch = launch,
      .load_work = 3,
      .load = load, .reference = reference, .slice = place, .joins = true },
    { .name = "grad", .operands = "dy/ mask?~", .results = "dx/",
      .in_place = "dx/mask", .cost = cost_box, .launch = grad_launch,
      .reference = grad_reference, .slice = grad_place },
    { .results = NULL },
};

const Op op_concat = {
    ROW(concat), .args = args, .attrs = attrs, .build = build, .shape = shape,
    .simplify = simplify, .gradient = gradient, .kernels = kernels,
};
