// conv: convolution with weights [K, R, S, C/groups], a bias and an activation.
//
// conv_gemm.c chooses its three launches.
//
// A call makes two nodes, conv and bias, which pass fuse_epilogue merges: only
// then has the forward launch its third operand.
#include "../op/activation_grad.h"
#include "../families/batch_moments.h"
#include "../families/conv_gemm.h"
#include "../families/momentum.h"
#include "../op/op_row.h"
#include "../gpu/precision.h"
#include "../op/op_checks.h"

enum { LARGEST = 1 << 12, WIDEST = 1 << 24 };

enum Args {
    CHANNELS, KERNEL, STRIDE, PADDING, DILATION, GROUPED, BIASED, BEGUN
};

static const ArgSpec args[] = {
    { "channels", ARG_INT, NULL, 1, WIDEST, "channels of the result" },
    { "kernel", ARG_DIMS, NULL, 1, LARGEST, "size of the window" },
    { "stride", ARG_DIMS, "1", 1, LARGEST, "from window to window" },
    { "padding", ARG_PADDING, "same", 0, WIDEST,
      "zeros around the map; same: as many results as strides begin" },
    { "dilation", ARG_DIMS, "1", 1, LARGEST, "from tap to tap of a window" },
    { "groups", ARG_INT, "1", 1, WIDEST,
      "independent groups of channels" },
    { "bias", ARG_BOOL, "true", 0, 1, "true: a bias is added" },
    INIT_ARG,
    { .name = NULL },
};

// ---- from a call to nodes ---------------------------------------------------

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (!build_wants(b, 0, 4, "a map [height, width, channels]")) return NONE;
    Shape map = g->values[b->operand[0]].shape;
    int64_t K = b->arg[CHANNELS].i, groups = b->arg[GROUPED].i;
    int64_t outputs = K / groups;
    Pos pos = b->arg[GROUPED].pos;
    if (!convolution_divides(b, pos, groups, map.dim[3], "operand") ||
        !convolution_divides(b, pos, groups, K, "result"))
        return NONE;

    Window w = { .ceil = false };
    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        w.size[axis] = b->arg[KERNEL].dim[axis];
        w.stride[axis] = b->arg[STRIDE].dim[axis];
        w.dilation[axis] = b->arg[DILATION].dim[axis];
    }
    window_pad(&w, &b->arg[PADDING], &map.dim[1]);
    if (!window_fits(b, &w, &b->arg[KERNEL])) return NONE;

    Attr attr[MAX_ATTRS] = { { 0 } };
    convolution_attrs(&w, groups, attr);
    Shape weight =
        shape_of(4, K, w.size[HEIGHT], w.size[WIDTH], map.dim[3] / groups);
    double taps = (double)weight.dim[1] * (double)weight.dim[2];
    Init init = init_of(&b->arg[BEGUN], taps * (double)weight.dim[3],
                        taps * (double)outputs);
    ValueId operands[] = { b->operand[0], NONE };
    operands[1] = build_param(b, "weight", weight, init, true);
    ValueId y = build_node(b, 2, operands, attr, window_shape(&w, map, K));
    return b->arg[BIASED].i ? convolution_bias(b, &op_bias, y) : y;
}

static Shape shape(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[0]].shape;
    Shape weight = g->values[n->operands[1]].shape;
    int64_t groups = n->attr[CONV_GROUPS].i;
    // Other ranks or numbers of groups have no result.
    if (x.rank != 4 || weight.rank != 4 || weight.dim[0] % groups != 0 ||
        weight.dim[3] * groups != x.dim[3] ||
        !is_vector_of(g, n, 2, weight.dim[0]))
        return shape_of(0);
    Window w = convolution_window(n->attr, weight);
    return window_shape(&w, g->values[n->operands[0]].shape, weight.dim[0]);
}

// ---- gradient ---------------------------------------------------------------

// The weight gradient comes first: it is the last to read x, so the data
// gradient may overwrite x.
static void gradient(Gradient *c)
{
    ValueId dz = act_gradient(c);
    convolution_weight_gradient(c, &op_conv, &op_sum_splits, dz,
                                c->g->nodes[c->node].operands[0], true);
    if (!gradient_wanted(c, 0)) return;
    Node n = c->g->nodes[c->node];
    ValueId operands[] = { dz, n.operands[1], NONE };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, &op_conv, 1, 3, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

// ---- references -------------------------------------------------------------

typedef void Meet(double *x, double *weight, double *y);

static void add_to_y(double *x, double *weight, double *y)
{
    *y += *x * *weight;
}

static void add_to_x(double *x, double *weight, double *y)
{
    *x += *y * *weight;
}

static void add_to_weight(double *x, double *weight, double *y)
{
    *weight += *y * *x;
}

// Applies `meet` to one tap of every filter.  The pointers are to the pixel of
// x, the tap of the first filter and the pixel of y.
static void meet_tap(const Convolution *d, double *x, double *weight, double *y,
                     Meet *meet)
{
    for (int64_t k = 0; k < d->K; k++)
        for (int64_t c = 0; c < d->group_c; c++)
            meet(&x[k / d->group_k * d->group_c + c],
                 &weight[k * d->filter + c], &y[k]);
}

// Applies `meet` to every element of y with the weights and elements of x that
// it depends on; each split has its own weights.
static void meet_all(const Ref *r, double *x, double *weight, double *y,
                     Meet *meet)
{
    Convolution d = convolution_of(r->g, r->n);
    int64_t run = ceil_div(d.pixels, r->n->attr[CONV_SPLITS].i);
    for (int64_t i = 0; i < d.pixels; i++)
        for (int64_t tap = 0; tap < d.R * d.S; tap++) {
            int64_t at = window_pixel(&d.window, d.x, d.y, i, tap);
            if (at < 0) continue;
            double *first = weight + i / run * d.K * d.filter;
            meet_tap(&d, x + at * d.C, first + tap * d.group_c, y + i * d.K,
                     meet);
        }
}

// Returns an operand of count elements as the kernel reads it.  Depthwise
// kernels do not round operands.
static double *operand(const Ref *r, Arena *room, double *x, int64_t count)
{
    Convolution d = convolution_of(r->g, r->n);
    if (convolution_is_depthwise(&d)) return x;
    return product_operands(d.type, room, x, count);
}

// Applies meet_all to operands a and b and the result `to`.
static void meet_operands(const Ref *r, double *to, Meet *meet)
{
    Arena *room = arena_new();
    double *a = operand(r, room, r->in[0], elements(ref_in(r, 0)));
    double *b = operand(r, room, r->in[1], elements(ref_in(r, 1)));
    if (meet == add_to_y) meet_all(r, a, b, to, meet);
    else if (meet == add_to_x) meet_all(r, to, b, a, meet);
    else meet_all(r, b, to, a, meet);
    arena_free(room);
}

static void clear(double *data, Shape shape)
{
    int64_t count = elements(shape);
    for (int64_t i = 0; i < count; i++) data[i] = 0;
}

static int64_t pixels_of(Shape map)
{
    return map.dim[1] * map.dim[2];
}

static void reference(const Ref *r)
{
    double *y = r->out[0], *bias = r->in[2];
    int64_t count = elements(ref_out(r, 0)), K = ref_out(r, 0).dim[3];
    clear(y, ref_out(r, 0));
    meet_operands(r, y, add_to_y);
    for (int64_t i = 0; bias != NULL && i < count; i++) y[i] += bias[i % K];
    if (r->n->kernel == CONV_NORMALIZED)
        made_norm_reference(r, CONV_NORM, r->n->attr[CONV_EPSILON].f);
    for (int64_t i = 0; i < count; i++) y[i] = ref_act(r, y[i]);
    if (r->n->kernel == CONV_MOMENTS)
        made_moments_reference(r, MOMENTS_WEIGHT, pixels_of(ref_out(r, 0)),
                               r->n->attr[CONV_EPSILON].f);
}

static void dgrad_reference(const Ref *r)
{
    double *dx = r->out[0];
    clear(dx, ref_out(r, 0));
    meet_operands(r, dx, add_to_x);
    if (r->n->kernel == CONV_ADD) ref_add_other(r, DGRAD_OTHER);
    ref_mask(r, DGRAD_MASK);
    if (r->n->kernel == CONV_PRODUCTS)
        made_products_reference(r, PRODUCTS_X, pixels_of(ref_out(r, 0)),
                                r->n->attr[CONV_EPSILON].f);
}

static void wgrad_reference(const Ref *r)
{
    Convolution d = convolution_of(r->g, r->n);
    int64_t run = ceil_div(d.pixels, r->n->attr[CONV_SPLITS].i);
    double *dw = ref_gradient(r, 0), *db = ref_gradient(r, 1);
    if (dw != NULL) meet_operands(r, dw, add_to_weight);
    for (int64_t i = 0; db != NULL && i < d.pixels * d.K; i++)
        db[i / d.K / run * d.K + i % d.K] += r->in[0][i];
}

// ---- the operator -----------------------------------------------------------

// Without groups, dx and the weights have the same channels.
static int dgrad_divided(const Graph *g, const Node *n)
{
    (void)g;
    return n->attr[CONV_GROUPS].i == 1 ? 1 : NONE;
}

static const Kernel kernels[] = {
    { .name = "", .results = "y/", .reducing = CONV_MOMENTS,
      .normalizing = CONV_NORMALIZED, .rounds = convolution_rounds,
      .cost = convolution_cost, .launch = convolution_forward,
      .reference = reference },
    { .name = "dgrad", .operands = "dy~ weight~ mask?~", .results = "dx/",
      .in_place = "dx/mask", .adding = CONV_ADD, .reducing = CONV_PRODUCTS,
      .rounds = convolution_rounds, .cost = convolution_cost,
      .launch = convolution_dgrad, .reference = dgrad_reference,
      .divided = dgrad_divided },
    { .name = "wgrad", .operands = "dy~ x~", .results = "dw db?",
      .with_momentum = CONV_MOMENTUM, .cost = convolution_cost,
      .launch = convolution_wgrad, .reference = wgrad_reference },
    { .name = "momentum",
      .operands = "dy~ x~ weight momentum! bias? bias_momentum!? header",
      .results = "", .cost = convolution_cost, .launch = convolution_wgrad,
      .reference = wgrad_reference },
    { .name = "dgrad_add", .operands = "dy~ weight~ mask?~ other~",
      .results = "dx/", .in_place = "dx/mask dx/other",
      .rounds = convolution_rounds, .cost = convolution_cost,
      .launch = convolution_dgrad, .reference = dgrad_reference },
    { .name = "moments", .operands = "x~ weight~ bias? gamma? header",
      .results = "y/ mean variance factor partials",
      .reduces = SUMS_OF_MOMENTS, .partials = convolution_partials,
      .take = convolution_takes, .rounds = convolution_rounds,
      .cost = convolution_cost, .launch = convolution_forward,
      .reference = reference },
    { .name = "dgrad_products",
      .operands = "dy~ weight~ mask?~ x~ mean variance header",
      .results = "dx/ sum product partials", .in_place = "dx/mask",
      .reduces = SUMS_OF_PRODUCTS, .partials = convolution_partials,
      .take = convolution_takes, .rounds = convolution_rounds,
      .cost = convolution_cost, .launch = convolution_dgrad,
      .reference = dgrad_reference },
    { .name = "normalized", .operands = "x~ weight~ bias? " NORM_OPERANDS,
      .results = "y/", .in_place = "y/other", .take = convolution_takes,
      .rounds = convolution_rounds, .cost = convolution_cost,
      .launch = convolution_forward, .reference = reference },
    { .results = NULL },
};

const Op op_conv = {
    ROW(conv), .args = args, .attrs = convolution_attr_specs,
    .build = build, .shape = shape, .gradient = gradient,
    .pooling = &convolution_pooling, .kernels = kernels,
};
