// fake_quantize: rounds to integers of 8 bits times a scale, for
// quantization-aware training.
//
//   y = clamp(rint(x / scale), least, most) * scale
//
// A map has one scale, a parameter one for each row of dimension 0.  With the
// scale 0 nothing is rounded.  Readers compute y on load (pass fuse_prologue),
// so a map and a parameter are stored once, as x.
//
// The gradient passes dy where the rounded number is from least to most, else
// 0, as torch.fake_quantize_per_tensor_affine's.  No number of a parameter is
// outside, so dy is its gradient.  The gradient of a map is relu's, with a map
// of 1 and 0 (`inside`) in place of relu's result.  So it merges with other
// launches as an activation's gradient does.  The map is computed on load from
// x, with the gate of the activation that made x (Node.act):
//
//   %9 y = fake_quantize(%5 x, %8)
//   %20 largest = fake_quantize.largest(%5)
//   %21 passes = fake_quantize.inside(%5, %8) act=relu
//   ...
//   %31 dx = relu.grad(%30 dy, %21)
//
// `largest` finds the largest magnitude in each of its blocks, for track_scale.
// Maps with the same scale hand their results on (`before`).
#include <math.h>
#include <string.h>
#include "../op/op_row.h"
#include "../families/quantize.h"
#include "../op/op_checks.h"

enum { BLOCK = 256, EACH = 4, MOST_BLOCKS = 512 };

static const AttrSpec attrs[] = {
    { "least", ATTR_INT, -127, 0 }, { "most", ATTR_INT, 127, 255 },
    { "keep", ATTR_FLOAT, 0, 1 },
    { "delay", ATTR_INT, 0, MOST_QUANTIZE_STEP },
    { .name = NULL },
};

// True if v is a scale of maps that a training step measures.
static bool is_tracked_scale(const Graph *g, ValueId v)
{
    const Value *value = &g->values[v];
    return value->kind == STATE && value->state_of == NONE &&
           value->dtype == g->real;
}

ValueId unrounded_weight(const Graph *g, ValueId v)
{
    NodeId def = g->values[v].def;
    const Node *n = def != NONE ? &g->nodes[def] : NULL;
    bool is_rounded = n != NULL && n->op == &op_fake_quantize &&
                      n->kernel == 0 &&
                      !is_tracked_scale(g, n->operands[QUANTIZED_SCALE]);
    return is_rounded ? n->operands[QUANTIZED_X] : v;
}

bool is_gate(const Node *n)
{
    return n->op == &op_fake_quantize && n->kernel == INSIDE_KERNEL;
}

static const char *integer_type(const Node *n)
{
    return n->attr[QUANTIZE_LEAST].i == 0 ? "uint8_t" : "int8_t";
}

// Returns the elements of a row that have one scale; 0: all have.
static int64_t row_elements(const Graph *g, const Node *n)
{
    ValueId scale = n->operands[QUANTIZED_SCALE];
    if (is_tracked_scale(g, scale)) return 0;
    return elements(g->values[n->results[0]].shape) /
           elements(g->values[scale].shape);
}

// Adds the struct's template arguments before its operands, and its members.
static void launch_rounding(const Graph *g, const Node *n, Launch *l)
{
    launch_type(l, integer_type(n));
    launch_type_int(l, row_elements(g, n));
    launch_load(l, n, QUANTIZED_X);
    launch_value(l, n->operands[QUANTIZED_SCALE]);
}

static bool load(const Graph *g, const Node *n, Launch *l)
{
    launch_struct(l, "FakeQuantized");
    launch_rounding(g, n, l);
    return true;
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->results[0]].shape);
    int64_t vec = vec_width(g, n, count);
    launch_elements(l, "fake_quantize_forward", count / vec);
    launch_type_int(l, vec);
    Launch *x = launch_operand(l, "FakeQuantized");
    launch_rounding(g, n, x);
    launch_result_type(l, n->results[0]);
    launch_value(l, n->results[0]);
    launch_int(l, count, "count");
}

static bool inside_load(const Graph *g, const Node *n, Launch *l)
{
    (void)g;
    launch_struct(l, "Inside");
    launch_type(l, integer_type(n));
    launch_act(l, n);
    launch_load(l, n, QUANTIZED_X);
    launch_value(l, n->operands[QUANTIZED_SCALE]);
    return true;
}

static void inside_launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count = elements(g->values[n->results[0]].shape);
    launch_elements(l, "fake_quantize_inside", count);
    Launch *x = launch_operand(l, "Inside");
    inside_load(g, n, x);
    launch_result_type(l, n->results[0]);
    launch_value(l, n->results[0]);
    launch_int(l, count, "count");
}

static int64_t largest_blocks(int64_t count)
{
    int64_t blocks = ceil_div(count, BLOCK * EACH);
    return blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
}

static void largest_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape shape = g->values[n->operands[QUANTIZED_X]].shape;
    ValueId before = n->operands[QUANTIZED_BEFORE];
    int64_t count = elements(shape);
    launch_kernel(l, "fake_quantize_largest", largest_blocks(count), BLOCK);
    launch_type_int(l, vec_width(g, n, count));
    launch_value(l, n->results[0]);
    launch_load(l, n, QUANTIZED_X);
    launch_value(l, before);
    launch_int(l, before == NONE ? 0 : elements(g->values[before].shape),
               "before");
    launch_samples(l);
    launch_int(l, count / shape.dim[0], "width");
    launch_int(l, n->attr[QUANTIZE_MOST].i, "most");
}

// ---- the gradient -----------------------------------------------------------

// Keeps where the gradient of x passes.
static ValueId gate(Gradient *c)
{
    Graph *g = c->g;
    const Node n = g->nodes[c->node];
    ValueId x = n.operands[QUANTIZED_X];
    ValueId operands[] = { x, n.operands[QUANTIZED_SCALE] };
    ValueId passes = graph_value_like(
        g, x, arena_print(g->arena, "%s.inside", g->values[n.results[0]].name),
        ACTIVATION, g->values[x].shape, n.pos);
    gradient_node(c, &op_fake_quantize, INSIDE_KERNEL, 2, operands, 1, &passes);
    return passes;
}

static void gradient(Gradient *c)
{
    Graph *g = c->g;
    const Node n = g->nodes[c->node];
    if (!gradient_wanted(c, 0)) return;
    ValueId dy = gradient_of_result(c, 0);
    if (!is_tracked_scale(g, n.operands[QUANTIZED_SCALE])) {
        gradient_add(c, 0, dy);
        return;
    }
    ValueId operands[] = { dy, gate(c) };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, ops[OP_relu], 1, 2, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

// ---- the update -------------------------------------------------------------

// Returns the node of track_scale that moves the scale, or NONE.
static NodeId tracker_of(const Graph *g, ValueId scale)
{
    for (NodeId i = g->node_count; i-- > 0;)
        if (g->nodes[i].op == ops[OP_track_scale] &&
            g->nodes[i].operands[0] == scale)
            return i;
    return NONE;
}

// Measures x, which needs no gradient for it, and hands the result to the node
// that moves the scale.  Maps before x with this scale hand theirs on.
static void update(Graph *g, NodeId id)
{
    enum { LARGEST = 1 };       // operand of track_scale
    const Node n = g->nodes[id];
    ValueId scale = n.operands[QUANTIZED_SCALE], x = n.operands[QUANTIZED_X];
    if (!is_tracked_scale(g, scale)) return;
    NodeId tracker = tracker_of(g, scale);
    ValueId before =
        tracker != NONE ? g->nodes[tracker].operands[LARGEST] : NONE;
    ValueId operands[] = { x, before };
    ValueId largest = graph_value(
        g, arena_print(g->arena, "%s.largest", g->values[n.results[0]].name),
        WORKSPACE, g->real,
        shape_of(1, largest_blocks(elements(g->values[x].shape))), n.pos);
    NodeId made = graph_node(g, &op_fake_quantize, LARGEST_KERNEL, FORWARD,
                             g->values[largest].name, n.pos, 2, operands, 1,
                             &largest);
    memcpy(g->nodes[made].attr, n.attr, sizeof n.attr);
    if (tracker != NONE) {
        g->nodes[tracker].operands[LARGEST] = largest;
        return;
    }
    ValueId tracked[] = { scale, largest, g->header };
    tracker = graph_node(g, ops[OP_track_scale], 0, UPDATE,
                         arena_print(g->arena, "%s.track",
                                     g->values[scale].name),
                         n.pos, 3, tracked, 0, NULL);
    g->nodes[tracker].attr[TRACK_KEEP] = n.attr[QUANTIZE_KEEP];
    g->nodes[tracker].attr[TRACK_DELAY] = n.attr[QUANTIZE_DELAY];
}

static const char *needs_largest(const Graph *g, const Node *n)
{
    return g->mode == TRAIN && is_tracked_scale(g, n->operands[QUANTIZED_SCALE])
               ? "the scale of the whole batch" : NULL;
}

// ---- the reference ----------------------------------------------------------

// Returns the integer of a number, before it is limited.
static double integer_of(double x, double scale)
{
    return rint(x * (1 / scale));
}

static void reference(const Ref *r)
{
    const Attr *attr = r->n->attr;
    int64_t count = elements(ref_out(r, 0)), row = row_elements(r->g, r->n);
    for (int64_t i = 0; i < count; i++) {
        double scale = r->in[QUANTIZED_SCALE][row > 0 ? i / row : SCALE_USED];
        double x = r->in[QUANTIZED_X][i];
        double q = integer_of(x, scale);
        q = fmin(fmax(q, (double)attr[QUANTIZE_LEAST].i),
                 (double)attr[QUANTIZE_MOST].i);
        r->out[0][i] = scale == 0 ? x : q * scale;
    }
}

static void inside_reference(const Ref *r)
{
    const Node *n = r->n;
    double scale = r->in[QUANTIZED_SCALE][SCALE_USED];
    for (int64_t i = 0; i < elements(ref_out(r, 0)); i++) {
        double x = r->in[QUANTIZED_X][i];
        double q = scale == 0 ? 0 : integer_of(x, scale);
        bool passes = q >= (double)n->attr[QUANTIZE_LEAST].i &&
                      q <= (double)n->attr[QUANTIZE_MOST].i &&
                      (n->act == NULL || n->act->act_gradient(1, x) != 0);
        r->out[0][i] = passes;
    }
}

static void largest_reference(const Ref *r)
{
    Shape shape = ref_in(r, QUANTIZED_X);
    int64_t width = elements(shape) / shape.dim[0];
    double most = (double)r->n->attr[QUANTIZE_MOST].i, largest = 0;
    const double *x = r->in[QUANTIZED_X], *before = r->in[QUANTIZED_BEFORE];
    for (int64_t i = 0; i < r->samples * width; i++)
        largest = fmax(largest, fabs(x[i]) / most);
    for (int64_t i = 0; before != NULL &&
         i < elements(ref_in(r, QUANTIZED_BEFORE)); i++)
        largest = fmax(largest, before[i]);
    ref_clear(r, 0);
    r->out[0][0] = largest;
}

static const Kernel kernels[] = {
    { .name = "", .results = "y/", .in_place = "y/x", .cost = cost_elementwise,
      .launch = launch, .load = load, .load_work = 6, .reference = reference },
    [INSIDE_KERNEL] =
    { .name = "inside", .results = "passes/", .in_place = "passes/x",
      .cost = cost_elementwise, .launch = inside_launch, .load = inside_load,
      .load_work = 6, .reference = inside_reference },
    [LARGEST_KERNEL] =
    { .name = "largest", .operands = "x~ before?", .results = "largest",
      .cost = cost_elementwise, .launch = largest_launch,
      .reference = largest_reference },
    { .results = NULL },
};

const Op op_fake_quantize = {
    ROW(fake_quantize), .attrs = attrs, .gradient = gradient,
    .update = update, .moments = QUANTIZED_SCALE,
    .needs_whole_batch = needs_largest,
    .kernels = kernels,
};
