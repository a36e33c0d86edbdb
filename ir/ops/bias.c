// bias: adds a number per channel, if the operator before can't do it.
//
// Dense layers have one, since their GEMM is a library call, and so do
// convolutions until pass fuse_epilogue.  An activation may be fused into it.
//
// A convolution's weight gradient also computes the bias gradient, even if a
// bias node follows it (gradient_takes_bias).  Elsewhere the bias gradient is a
// launch of its own: the column sums of dy.  Many rows are split over blocks,
// depending only on the shape, and a sum_splits node adds the partial sums:
//
//   %8 d.conv1.bias.partials = bias.grad(%7) splits=32
//   %9 d.conv1.bias = sum_splits(%8)
//
// sum_splits also sums the few rows of a dense layer, so that sums of several
// layers can be one launch; except rows in 16 bits, or in slices.
#include "../op/activation_grad.h"
#include "../families/column_reduce.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { SPLITS };

static const AttrSpec attrs[] = {
    { "splits", ATTR_INT, 0, MOST_SPLITS }, { .name = NULL },
};

// ---- gradient --------------------------------------------------------------

static void gradient(Gradient *c)
{
    ValueId dz = act_gradient(c);
    const Node *n = &c->g->nodes[c->node];
    NodeId maker = c->g->values[n->operands[0]].def;
    bool taken = maker != NONE && gradient_takes_bias(c->g, c->uses, maker);
    if (!taken) column_gradient(c, n->operands[1], dz);
    if (gradient_wanted(c, 0)) gradient_add(c, 0, dz);
}

// ---- forward ---------------------------------------------------------------

static void launch(const Graph *g, const Node *n, Launch *l)
{
    Shape y = g->values[n->results[0]].shape;
    launch_elements(l, "bias_forward", elements(y));
    launch_type_int(l, columns_of(y));
    launch_act(l, n);
    launch_slots(l, n, 1, 2);
    launch_int(l, elements(y), "count");
}

static bool load(const Graph *g, const Node *n, Launch *l)
{
    launch_struct(l, "BiasLoad");
    launch_type_int(l, columns_of(g->values[n->results[0]].shape));
    launch_act(l, n);
    launch_load(l, n, 0);
    launch_value(l, n->operands[1]);
    return true;
}

static void reference(const Ref *r)
{
    Shape y = ref_out(r, 0);
    for (int64_t i = 0; i < elements(y); i++)
        r->out[0][i] = ref_act(r, r->in[0][i] + r->in[1][i % columns_of(y)]);
}

// ---- grad ------------------------------------------------------------------

static void grad_cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = elements(g->values[n->operands[0]].shape);
    cost->bytes = cost_bytes(g, n);
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape dy = g->values[n->operands[0]].shape;
    int64_t columns = columns_of(dy), rows = rows_of(dy);
    // A thread can sum a column of few rows, as in sum_splits.
    if (rows <= FEW_ROWS && n->attr[SPLITS].i <= 1) {
        launch_elements(l, "bias_gradient_few", columns);
        launch_constant(l, "ROWS", rows);
        launch_constant(l, "C", columns);
    } else {
        launch_columns(l, "bias_gradient", rows, columns, n->attr[SPLITS].i);
    }
    launch_slots(l, n, 1, 1);
}

// Rows are split into runs of equal length; the last are shorter or empty.
static void grad_reference(const Ref *r)
{
    Shape dy = ref_in(r, 0);
    int64_t columns = columns_of(dy), splits = r->n->attr[SPLITS].i;
    int64_t run = ceil_div(elements(dy) / columns, splits);
    for (int64_t i = 0; i < splits * columns; i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < elements(dy); i++) {
        int64_t split = i / columns / run;
        r->out[0][split * columns + i % columns] += r->in[0][i];
    }
}

static Shape shape(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[0]].shape;
    return x.rank > 0 && is_vector_of(g, n, 1, columns_of(x)) ? x : shape_of(0);
}

static const Kernel kernels[] = {
    { .name = "", .results = "y/", .in_place = "y/x",
      .cost = cost_elementwise, .launch = launch, .load_work = 1, .load = load,
      .reference = reference },
    { .name = "grad", .operands = "dy/", .results = "db", .cost = grad_cost,
      .launch = grad_launch, .reference = grad_reference },
    { .results = NULL },
};

const Op op_bias = {
    ROW(bias), .attrs = attrs, .shape = shape, .gradient = gradient,
    .kernels = kernels,
};
