// conv_transpose: the transpose of a convolution, which enlarges maps.
//
// It computes a convolution's data gradient, with weights [C, R, S, K/groups]
// of a convolution from K channels to C.  Its own data gradient is that
// convolution; its weight gradient is that convolution's with the two maps
// exchanged.  So all launches are conv's, and backward nodes are nodes of conv.
#include "../families/column_reduce.h"
#include "../families/conv_gemm.h"
#include "../op/activation_grad.h"
#include "../op/op_row.h"
#include "../gpu/precision.h"
#include "../op/op_checks.h"

enum { LARGEST = 1 << 12, WIDEST = 1 << 24 };
enum { BIAS = 2 };              // operand

enum Args {
    CHANNELS, KERNEL, STRIDE, PADDING, OUTPUT_PADDING, DILATION, GROUPED,
    BIASED, BEGUN
};

static const ArgSpec args[] = {
    { "channels", ARG_INT, NULL, 1, WIDEST, "channels of the result" },
    { "kernel", ARG_DIMS, NULL, 1, LARGEST, "size of the window" },
    { "stride", ARG_DIMS, "1", 1, LARGEST,
      "from window to window, in the result" },
    { "padding", ARG_PADDING, "valid", 0, WIDEST,
      "rows and columns removed from the result; same: the result has "
      "stride times the operand's" },
    { "output_padding", ARG_DIMS, "0", 0, LARGEST,
      "rows and columns added at the end of the result, below the stride or "
      "the dilation" },
    { "dilation", ARG_DIMS, "1", 1, LARGEST, "from tap to tap of a window" },
    { "groups", ARG_INT, "1", 1, WIDEST,
      "independent groups of channels" },
    { "bias", ARG_BOOL, "true", 0, 1, "true: a bias is added" },
    INIT_ARG,
    { .name = NULL },
};

// ---- from a call to nodes ---------------------------------------------------

// Returns the extent of `count` windows along an axis, with padding.
static int64_t reach(const Window *w, int axis, int64_t count)
{
    return (count - 1) * w->stride[axis] +
           (w->size[axis] - 1) * w->dilation[axis] + 1;
}

// Returns the extent of the result and sets the padding in w; 0 if it is empty.
static int64_t result_extent(Build *b, Window *w, int axis, int64_t count)
{
    const ArgValue *padding = &b->arg[PADDING];
    int64_t full = reach(w, axis, count);
    int64_t more = b->arg[OUTPUT_PADDING].dim[axis];

    w->before[axis] = w->after[axis] = 0;
    if (padding->count == 4) {
        w->before[axis] = padding->dim[2 * axis];
        w->after[axis] = padding->dim[2 * axis + 1];
    } else if (padding->word[0] == 's') {
        int64_t spare = full - count * w->stride[axis];
        if (spare < 0) more = -spare, spare = 0;
        w->before[axis] = spare / 2;
        w->after[axis] = spare - spare / 2;
    }
    int64_t extent = full - w->before[axis] - w->after[axis] + more;
    return extent > 0 ? extent : 0;
}

// Checks the output padding, as PyTorch does.  Another window would fit into
// one of a stride or more.  So that is less padding after the result, which
// may become negative.
static bool take_output_padding(Build *b, Window *w)
{
    const ArgValue *more = &b->arg[OUTPUT_PADDING];
    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        int64_t rows = more->dim[axis];
        if (rows >= w->stride[axis] && rows < w->dilation[axis])
            w->after[axis] -= rows;
        if (rows < w->stride[axis] || rows < w->dilation[axis]) continue;
        error(b->g->diag, more->pos, "output_padding must be below the stride, "
              "%lldx%lld, or the dilation, %lldx%lld",
              (long long)w->stride[HEIGHT], (long long)w->stride[WIDTH],
              (long long)w->dilation[HEIGHT], (long long)w->dilation[WIDTH]);
        return false;
    }
    return true;
}

// Returns [N, H, W, K], of rank 0 after an error.
static Shape result_shape(Build *b, Window *w)
{
    Shape map = b->g->values[b->operand[0]].shape;
    Shape y = shape_of(4, map.dim[0], (int64_t)0, (int64_t)0,
                       b->arg[CHANNELS].i);

    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        w->size[axis] = b->arg[KERNEL].dim[axis];
        w->stride[axis] = b->arg[STRIDE].dim[axis];
        w->dilation[axis] = b->arg[DILATION].dim[axis];
        y.dim[1 + axis] = result_extent(b, w, axis, map.dim[1 + axis]);
    }
    if (!take_output_padding(b, w)) return shape_of(0);
    if (y.dim[1] > 0 && y.dim[2] > 0) return y;
    error(b->g->diag, b->arg[PADDING].pos, "nothing is left of the result "
          "when this padding is taken away");
    return shape_of(0);
}

static ValueId build(Build *b)
{
    if (!build_wants(b, 0, 4, "a map [height, width, channels]")) return NONE;
    int64_t C = b->g->values[b->operand[0]].shape.dim[3];
    int64_t K = b->arg[CHANNELS].i, groups = b->arg[GROUPED].i;
    int64_t inputs = C / groups, outputs = K / groups;
    Pos pos = b->arg[GROUPED].pos;
    Window w = { .ceil = false };
    if (!convolution_divides(b, pos, groups, C, "operand") ||
        !convolution_divides(b, pos, groups, K, "result"))
        return NONE;
    Shape y = result_shape(b, &w);
    if (y.rank == 0) return NONE;

    Attr attr[MAX_ATTRS] = { { 0 } };
    convolution_attrs(&w, groups, attr);
    // An element of the result is covered by one in `strides` of the windows.
    double taps = (double)(w.size[HEIGHT] * w.size[WIDTH]);
    double strides = (double)(w.stride[HEIGHT] * w.stride[WIDTH]);
    double met = taps > strides ? taps / strides : 1;
    Init init = init_of(&b->arg[BEGUN], met * (double)inputs,
                        taps * (double)outputs);
    ValueId operands[] = { b->operand[0], NONE, NONE };
    operands[1] = build_param(b, "weight",
                              shape_of(4, C, w.size[HEIGHT], w.size[WIDTH],
                                       outputs), init, true);
    ValueId sum = build_node(b, 3, operands, attr, y);
    return b->arg[BIASED].i ? convolution_bias(b, &op_bias, sum) : sum;
}

// The attributes do not determine the result's extents: any extent whose
// windows match the operand is accepted.
static Shape shape(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[0]].shape;
    Shape weight = g->values[n->operands[1]].shape;
    Shape y = g->values[n->results[0]].shape;
    Window w = convolution_window(n->attr, weight);
    bool fits = x.rank == 4 && weight.rank == 4 && y.rank == 4 &&
                weight.dim[0] == x.dim[3] &&
                x.dim[3] % n->attr[CONV_GROUPS].i == 0 &&
                y.dim[3] == weight.dim[3] * n->attr[CONV_GROUPS].i &&
                y.dim[0] == x.dim[0] && is_vector_of(g, n, BIAS, y.dim[3]);
    for (int axis = HEIGHT; fits && axis <= WIDTH; axis++)
        fits = window_count(&w, axis, y.dim[1 + axis]) == x.dim[1 + axis];
    return fits ? y : shape_of(0);
}

// ---- as a node of conv ------------------------------------------------------

enum { OPERANDS = 3 };          // dy weight mask?

// Returns n as conv's data gradient; operands has space for its slots.
static Node as_dgrad(const Node *n, ValueId *operands)
{
    Node as = *n;
    as.op = &op_conv;
    as.kernel = CONV_DGRAD;
    operands[0] = n->operands[0];
    operands[1] = n->operands[1];
    operands[2] = NONE;
    as.operands = operands;
    as.operand_count = OPERANDS;
    return as;
}

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    ValueId operands[OPERANDS];
    Node as = as_dgrad(n, operands);
    convolution_cost(g, &as, cost);
    cost->bytes = cost_bytes(g, n);
    if (n->operands[BIAS] != NONE)
        cost->flops = capped_sum(cost->flops,
                                 elements(g->values[n->results[0]].shape));
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    ValueId operands[OPERANDS];
    Node as = as_dgrad(n, operands);
    convolution_transposed(g, &as, l, n->operands[BIAS]);
}

static bool rounds(const Graph *g, const Node *n, int k)
{
    ValueId operands[OPERANDS];
    Node as = as_dgrad(n, operands);
    return convolution_rounds(g, &as, k);
}

static void gradient(Gradient *c)
{
    Graph *g = c->g;
    Node n = g->nodes[c->node];
    ValueId dy = act_gradient(c), bias = gradient_bias(c);
    if (bias != NONE) column_gradient(c, bias, dy);
    convolution_weight_gradient(c, &op_conv, &op_sum_splits, n.operands[0], dy,
                                false);
    if (!gradient_wanted(c, 0)) return;
    ValueId operands[] = { dy, n.operands[1], NONE };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, &op_conv, CONV_FORWARD, OPERANDS, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

// By definition: every element of x adds its windows to y.
static void reference(const Ref *r)
{
    Shape x = ref_in(r, 0), w = ref_in(r, 1), y = ref_out(r, 0);
    Window window = convolution_window(r->n->attr, w);
    int64_t per_group = x.dim[3] / r->n->attr[CONV_GROUPS].i, K = w.dim[3];
    int64_t taps = w.dim[1] * w.dim[2];

    Arena *room = arena_new();
    const double *from = r->in[0], *weights = r->in[1];
    if (K > 1 || r->n->attr[CONV_GROUPS].i == 1) {
        // Depthwise kernels do not round operands.
        ProductType type = product_type(r->g, r->n->operands[0],
                                        r->n->results[0]);
        from = product_operands(type, room, r->in[0], elements(x));
        weights = product_operands(type, room, r->in[1], elements(w));
    }
    for (int64_t i = 0; i < elements(y); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < elements(x); i++)
        for (int64_t tap = 0; tap < taps; tap++) {
            int64_t c = i % x.dim[3];
            int64_t at = window_pixel(&window, y, x, i / x.dim[3], tap);
            if (at < 0) continue;
            double *to = r->out[0] + at * y.dim[3] + c / per_group * K;
            const double *weight = weights + (c * taps + tap) * K;
            for (int64_t k = 0; k < K; k++) to[k] += from[i] * weight[k];
        }
    arena_free(room);
    for (int64_t i = 0; i < elements(y); i++) {
        double bias = r->in[BIAS] != NULL ? r->in[BIAS][i % y.dim[3]] : 0;
        r->out[0][i] = ref_act(r, r->out[0][i] + bias);
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "y/", .rounds = rounds, .cost = cost,
      .launch = launch, .reference = reference },
    { .results = NULL },
};

const Op op_conv_transpose = {
    ROW(conv_transpose), .args = args, .attrs = convolution_attr_specs,
    .build = build, .shape = shape, .gradient = gradient, .kernels = kernels,
};
