// conv: convolution with weights [K, R, S, C/groups], a bias and an activation.
//
// All three launches are products (runtime/support/product.cuh) over tiles.
// Tiles and splits of the weight gradient are chosen here from shapes alone, so
// that a budget or a pass never changes the order of a sum.
//
// A call makes two nodes, conv and bias, which fuse_epilogue merges: only then
// does the forward launch have its third operand.
#include "../act.h"
#include "../op_row.h"
#include "../rules.h"
#include "../tile.h"
#include "../window.h"

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
      "runs of channels that do not see each other" },
    { "bias", ARG_BOOL, "true", 0, 1, "whether a bias is added" },
    INIT_ARG,
    { .name = NULL },
};

enum Attrs {
    STRIDE_H, STRIDE_W, DILATION_H, DILATION_W,
    PAD_TOP, PAD_BOTTOM, PAD_LEFT, PAD_RIGHT, GROUPS, SPLITS
};

static const AttrSpec attrs[] = {
    { "stride_h", ATTR_INT }, { "stride_w", ATTR_INT },
    { "dilation_h", ATTR_INT }, { "dilation_w", ATTR_INT },
    { "pad_top", ATTR_INT }, { "pad_bottom", ATTR_INT },
    { "pad_left", ATTR_INT }, { "pad_right", ATTR_INT },
    { "groups", ATTR_INT }, { "splits", ATTR_INT },
    { NULL, ATTR_INT },
};

// ---- from a call to nodes ---------------------------------------------------

static bool divides(Build *b, int64_t groups, int64_t channels,
                    const char *whose)
{
    if (channels % groups == 0) return true;
    error(b->g->diag, b->arg[GROUPED].pos,
          "%lld groups do not divide the %lld channels of the %s",
          (long long)groups, (long long)channels, whose);
    return false;
}

static void window_attrs(const Window *w, int64_t groups, Attr *attr)
{
    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        attr[STRIDE_H + axis].i = w->stride[axis];
        attr[DILATION_H + axis].i = w->dilation[axis];
        attr[PAD_TOP + 2 * axis].i = w->before[axis];
        attr[PAD_BOTTOM + 2 * axis].i = w->after[axis];
    }
    attr[GROUPS].i = groups;
    attr[SPLITS].i = 1;
}

// Partial sums of a weight's gradient have a rank more than the weight.
static Window window_of(const Attr *attr, Shape weight)
{
    Window w = { .ceil = false };
    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        w.size[axis] = weight.dim[weight.rank - 3 + axis];
        w.stride[axis] = attr[STRIDE_H + axis].i;
        w.dilation[axis] = attr[DILATION_H + axis].i;
        w.before[axis] = attr[PAD_TOP + 2 * axis].i;
        w.after[axis] = attr[PAD_BOTTOM + 2 * axis].i;
    }
    return w;
}

// The layer's name goes to the biased value, which is what the program means
// by it; the sum before it vanishes when the two are fused.
static ValueId add_bias(Build *b, ValueId sum, int64_t channels)
{
    Graph *g = b->g;
    Build bias = *b;
    ValueId operands[] = { sum, NONE };
    bias.op = &op_bias;
    bias.name = arena_print(g->arena, "%s.sum", b->name);
    operands[1] = build_param(b, "bias", shape_of(1, channels),
                              (Init){ .scale = 0 }, true);
    ValueId y = build_node(&bias, 2, operands, NULL, g->values[sum].shape);
    const char *name = g->values[sum].name;
    g->values[sum].name = g->values[y].name;
    g->values[y].name = name;
    return y;
}

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (!build_wants(b, 0, 4, "a map [height, width, channels]")) return NONE;
    Shape map = g->values[b->operand[0]].shape;
    int64_t K = b->arg[CHANNELS].i, groups = b->arg[GROUPED].i;
    if (!divides(b, groups, map.dim[3], "operand") ||
        !divides(b, groups, K, "result"))
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
    window_attrs(&w, groups, attr);
    Shape weight =
        shape_of(4, K, w.size[HEIGHT], w.size[WIDTH], map.dim[3] / groups);
    double taps = (double)weight.dim[1] * (double)weight.dim[2];
    Init init = init_of(&b->arg[BEGUN], taps * (double)weight.dim[3],
                        taps * (double)(K / groups));
    ValueId operands[] = { b->operand[0], NONE };
    operands[1] = build_param(b, "weight", weight, init, true);
    ValueId y = build_node(b, 2, operands, attr, window_shape(&w, map, K));
    return b->arg[BIASED].i ? add_bias(b, y, K) : y;
}

static Shape shape(const Graph *g, const Node *n)
{
    Shape weight = g->values[n->operands[1]].shape;
    Window w = window_of(n->attr, weight);
    return window_shape(&w, g->values[n->operands[0]].shape, weight.dim[0]);
}

// ---- a node's dimensions ----------------------------------------------------

// What all three parts know: x [N,H,W,C], y [N,P,Q,K], a filter of R*S*C/groups
// weights.
typedef struct Dims {
    Shape   x, y;
    Window  window;
    int64_t N, H, W, C, K, R, S, P, Q;
    int64_t groups, group_c, group_k, filter, pixels;
} Dims;

static Shape slot_shape(const Graph *g, const Node *n, int slot)
{
    ValueId v = slot < 0 ? n->results[-1 - slot] : n->operands[slot];
    return g->values[v].shape;
}

// Of a node of any part.  A slot k >= 0 is an operand, -1 - k a result.
static Dims dims_of(const Graph *g, const Node *n)
{
    static const int x_slot[] = { 0, -1, 1 }, y_slot[] = { -1, 0, 0 };
    static const int weight_slot[] = { 1, 1, -1 };
    Dims d = { .x = slot_shape(g, n, x_slot[n->part]),
               .y = slot_shape(g, n, y_slot[n->part]),
               .groups = n->attr[GROUPS].i };
    d.window = window_of(n->attr, slot_shape(g, n, weight_slot[n->part]));
    d.N = d.x.dim[0], d.H = d.x.dim[1], d.W = d.x.dim[2], d.C = d.x.dim[3];
    d.P = d.y.dim[1], d.Q = d.y.dim[2], d.K = d.y.dim[3];
    d.R = d.window.size[HEIGHT], d.S = d.window.size[WIDTH];
    d.group_c = d.C / d.groups;
    d.group_k = d.K / d.groups;
    d.filter = d.R * d.S * d.group_c;
    d.pixels = d.N * d.P * d.Q;
    return d;
}

// A multiplication and an addition for each weight and pixel, in each part.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    Dims d = dims_of(g, n);
    cost->flops = capped_product(2 * d.pixels * d.K, d.filter);
    cost->bytes = cost_bytes(g, n);
}

// ---- launches ---------------------------------------------------------------

// The constants of a convolution are the same for its three launches, so that
// they share one struct.
static void launch_conv(const Node *n, Launch *l, const char *kernel, Dims d,
                        Tile t, int64_t grid)
{
    const Attr *attr = n->attr;
    const Constant constants[] = {
        { "N", d.N }, { "H", d.H }, { "W", d.W }, { "C", d.C },
        { "P", d.P }, { "Q", d.Q }, { "K", d.K }, { "R", d.R }, { "S", d.S },
        { "STRIDE_H", attr[STRIDE_H].i }, { "STRIDE_W", attr[STRIDE_W].i },
        { "DILATION_H", attr[DILATION_H].i },
        { "DILATION_W", attr[DILATION_W].i },
        { "PAD_TOP", attr[PAD_TOP].i }, { "PAD_LEFT", attr[PAD_LEFT].i },
        { "GROUPS", d.groups },
    };
    launch_kernel(l, kernel, grid, tile_threads(t));
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        launch_constant(l, constants[i].name, constants[i].value);
    launch_tile(l, t);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    Dims d = dims_of(g, n);
    Tile t = tile_of_pixels(d.pixels, d.group_k, d.groups);
    int64_t grid = d.groups * tile_count(t, d.pixels, d.group_k);
    launch_conv(n, l, "conv_forward", d, t, grid);
    launch_act(l, n);
    launch_type(l, n->operands[2] != NONE ? "true" : "false");
    launch_value(l, n->results[0]);
    for (int k = 0; k < 3; k++) launch_value(l, n->operands[k]);
}

// With a stride the pixels of dx fall into classes: conv_strided.cuh.
static void dgrad_launch(const Graph *g, const Node *n, Launch *l)
{
    Dims d = dims_of(g, n);
    int64_t stride_h = n->attr[STRIDE_H].i, stride_w = n->attr[STRIDE_W].i;
    int64_t pixels = d.N * ceil_div(d.H, stride_h) * ceil_div(d.W, stride_w);
    int64_t classes = stride_h * stride_w, times = d.groups * classes;
    Tile t = tile_of_pixels(pixels, d.group_c, times);
    int64_t grid = capped_product(times, tile_count(t, pixels, d.group_c));
    const char *kernel = classes > 1 ? "conv_strided_dgrad" : "conv_dgrad";
    launch_conv(n, l, kernel, d, t, grid);
    launch_act(l, n);
    launch_value(l, n->results[0]);
    for (int k = 0; k < 3; k++) launch_value(l, n->operands[k]);
}

// Blocks of the weight gradient in one split.
static int64_t wgrad_blocks(Dims d)
{
    Tile t = tile_of_weights(d.group_k, d.filter);
    return d.groups * tile_count(t, d.group_k, d.filter);
}

// Partial sums may take at most half of what x does.
static int64_t count_splits(Dims d)
{
    int64_t fitting = d.N * d.H * d.W * d.C / (2 * d.K * d.filter);
    return tile_splits(wgrad_blocks(d), d.pixels, fitting);
}

static void wgrad_launch(const Graph *g, const Node *n, Launch *l)
{
    Dims d = dims_of(g, n);
    int64_t splits = n->attr[SPLITS].i;
    Tile t = tile_of_weights(d.group_k, d.filter);
    launch_conv(n, l, "conv_wgrad", d, t, splits * wgrad_blocks(d));
    launch_type_int(l, splits);
    launch_type(l, n->results[1] != NONE ? "true" : "false");
    for (int k = 0; k < 2; k++) launch_value(l, n->results[k]);
    for (int k = 0; k < 2; k++) launch_value(l, n->operands[k]);
}

// ---- gradient ---------------------------------------------------------------

static void weight_gradient(Gradient *c, ValueId dy)
{
    Graph *g = c->g;
    Node n = g->nodes[c->node];
    int64_t splits = count_splits(dims_of(g, &n));
    ValueId operands[] = { dy, n.operands[0] };
    ValueId d[] = { NONE, NONE }, partial[] = { NONE, NONE };

    for (int k = 1; k <= 2; k++) {
        if (n.operands[k] == NONE) continue;
        d[k - 1] = gradient_value(c, k);
        partial[k - 1] = splits == 1 ? d[k - 1]
                                     : split_sums(g, n.operands[k], splits);
    }
    NodeId wgrad = gradient_node(c, &op_conv, 2, 2, operands, 2, partial);
    g->nodes[wgrad].attr[SPLITS].i = splits;
    if (splits > 1) gradient_node(c, &op_sum_splits, 0, 2, partial, 2, d);
    for (int k = 1; k <= 2; k++)
        if (d[k - 1] != NONE) gradient_add(c, k, d[k - 1]);
}

// The weight gradient comes first: it is the last to read x, which the data
// gradient can then be written over.
static void gradient(Gradient *c)
{
    ValueId dz = act_gradient(c);
    weight_gradient(c, dz);
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

// One tap of every filter at one place; the pointers are at the pixel of x, at
// the tap of the first filter and at the pixel of y.
static void meet_tap(const Dims *d, double *x, double *weight, double *y,
                     Meet *meet)
{
    for (int64_t k = 0; k < d->K; k++)
        for (int64_t c = 0; c < d->group_c; c++)
            meet(&x[k / d->group_k * d->group_c + c],
                 &weight[k * d->filter + c], &y[k]);
}

// Every element of y meets the weights and elements of x that it depends on;
// weights of a split of its own, where there are several.
static void meet_all(const Ref *r, double *x, double *weight, double *y,
                     Meet *meet)
{
    Dims d = dims_of(r->g, r->n);
    int64_t run = ceil_div(d.pixels, r->n->attr[SPLITS].i);
    for (int64_t i = 0; i < d.pixels; i++)
        for (int64_t tap = 0; tap < d.R * d.S; tap++) {
            int64_t at = window_pixel(&d.window, d.x, d.y, i, tap);
            if (at < 0) continue;
            double *first = weight + i / run * d.K * d.filter;
            meet_tap(&d, x + at * d.C, first + tap * d.group_c, y + i * d.K,
                     meet);
        }
}

static void clear(double *data, Shape shape)
{
    int64_t count = elements(shape);
    for (int64_t i = 0; i < count; i++) data[i] = 0;
}

static void reference(const Ref *r)
{
    double *y = r->out[0], *bias = r->in[2];
    int64_t count = elements(ref_out(r, 0)), K = ref_out(r, 0).dim[3];
    clear(y, ref_out(r, 0));
    meet_all(r, r->in[0], r->in[1], y, add_to_y);
    for (int64_t i = 0; i < count; i++)
        y[i] = ref_act(r, bias != NULL ? y[i] + bias[i % K] : y[i]);
}

static void dgrad_reference(const Ref *r)
{
    double *dx = r->out[0];
    int64_t count = elements(ref_out(r, 0));
    clear(dx, ref_out(r, 0));
    meet_all(r, dx, r->in[1], r->in[0], add_to_x);
    if (r->in[2] == NULL) return;
    for (int64_t i = 0; i < count; i++)
        dx[i] = r->n->act->act_gradient(dx[i], r->in[2][i]);
}

static void wgrad_reference(const Ref *r)
{
    Dims d = dims_of(r->g, r->n);
    int64_t run = ceil_div(d.pixels, r->n->attr[SPLITS].i);
    clear(r->out[0], ref_out(r, 0));
    meet_all(r, r->in[1], r->out[0], r->in[0], add_to_weight);
    if (r->out[1] == NULL) return;
    clear(r->out[1], ref_out(r, 1));
    for (int64_t i = 0; i < d.pixels * d.K; i++)
        r->out[1][i / d.K / run * d.K + i % d.K] += r->in[0][i];
}

// ---- the operator -----------------------------------------------------------

static const Part parts[] = {
    { .name = "", .results = "y",
      .cost = cost, .launch = launch, .reference = reference },
    { .name = "dgrad", .operands = "dy weight mask?", .results = "dx",
      .in_place = "dx/mask", .cost = cost, .launch = dgrad_launch,
      .reference = dgrad_reference },
    { .name = "wgrad", .operands = "dy x", .results = "dw db?",
      .cost = cost, .launch = wgrad_launch,
      .reference = wgrad_reference },
    { .results = NULL },
};

const Op op_conv = {
    ROW(conv), .args = args, .attrs = attrs, .build = build, .shape = shape,
    .gradient = gradient, .parts = parts,
};
