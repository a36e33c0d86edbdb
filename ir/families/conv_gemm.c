// The nodes of convolutions: their dimensions from the shapes of values, their
// kernels, and their tiles and splits.
//
// The three launches are GEMMs (runtime/support/gemm/product.cuh) over tiles.
// Depthwise convolutions use direct kernels (conv_depthwise.cuh).  Tiles and
// splits of the weight gradient depend only on shapes, and on tensor cores also
// on the GPU.  So no budget or pass changes the order of a sum.
#include "conv_gemm.h"
#include "batch_moments.h"
#include "column_reduce.h"
#include "momentum.h"
#include "../dtype.h"
#include "../op/op_checks.h"
#include "../gpu/gemm_time.h"

// Limits of padding: the words same and valid give at most a window's span.
// Negative padding after the map leaves elements out.
enum { LARGEST = 1 << 12, WIDEST = 1 << 25 };

const AttrSpec convolution_attr_specs[] = {
    { "stride_h", ATTR_INT, 1, LARGEST }, { "stride_w", ATTR_INT, 1, LARGEST },
    { "dilation_h", ATTR_INT, 1, LARGEST },
    { "dilation_w", ATTR_INT, 1, LARGEST },
    { "pad_top", ATTR_INT, 0, WIDEST },
    { "pad_bottom", ATTR_INT, -LARGEST, WIDEST },
    { "pad_left", ATTR_INT, 0, WIDEST },
    { "pad_right", ATTR_INT, -LARGEST, WIDEST },
    { "groups", ATTR_INT, 1, 1 << 24 },
    { "splits", ATTR_INT, 1, MOST_SPLITS }, { "epsilon", ATTR_FLOAT, 0, 1e6 },
    { .name = NULL },
};

void convolution_attrs(const Window *w, int64_t groups, Attr *attr)
{
    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        attr[CONV_STRIDE_H + axis].i = w->stride[axis];
        attr[CONV_DILATION_H + axis].i = w->dilation[axis];
        attr[CONV_PAD_TOP + 2 * axis].i = w->before[axis];
        attr[CONV_PAD_BOTTOM + 2 * axis].i = w->after[axis];
    }
    attr[CONV_GROUPS].i = groups;
    attr[CONV_SPLITS].i = 1;
    attr[CONV_EPSILON].f = 0;
}

Window convolution_window(const Attr *attr, Shape weight)
{
    Window w = { .ceil = false };
    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        w.size[axis] = weight.dim[weight.rank - 3 + axis];
        w.stride[axis] = attr[CONV_STRIDE_H + axis].i;
        w.dilation[axis] = attr[CONV_DILATION_H + axis].i;
        w.before[axis] = attr[CONV_PAD_TOP + 2 * axis].i;
        w.after[axis] = attr[CONV_PAD_BOTTOM + 2 * axis].i;
    }
    return w;
}

// ---- a node's dimensions ----------------------------------------------------

// Returns the value of a slot: k >= 0 is an operand, -1 - k a result.
static ValueId slot_value(const Node *n, int slot)
{
    return slot < 0 ? n->results[-1 - slot] : n->operands[slot];
}

// True if n multiplies integers, if its map has them.
static bool multiplies_integers(const Graph *g, const Node *n,
                                const Convolution *d)
{
    bool is_forward =
        n->kernel == CONV_FORWARD || n->kernel == CONV_NORMALIZED;
    return is_forward && !convolution_is_depthwise(d) &&
           weighed(g, d->type, n->operands[1]) == d->type;
}

Convolution convolution_of(const Graph *g, const Node *n)
{
    static const int x_slot[] = { 0, -1, 1, 1, -1, 0, -1, 0 };
    static const int y_slot[] = { -1, 0, 0, 0, 0, -1, 0, -1 };
    static const int weight_slot[] = { 1, 1, -1, ACCUMULATED, 1, 1, 1, 1 };
    ValueId x = slot_value(n, x_slot[n->kernel]);
    ValueId y = slot_value(n, y_slot[n->kernel]);
    ValueId weight = slot_value(n, weight_slot[n->kernel]);
    Convolution d = { .x = g->values[x].shape, .y = g->values[y].shape,
                      .groups = n->attr[CONV_GROUPS].i,
                      .type = product_type(g, x, y) };
    d.window = convolution_window(n->attr, g->values[weight].shape);
    d.N = d.x.dim[0], d.H = d.x.dim[1], d.W = d.x.dim[2], d.C = d.x.dim[3];
    d.P = d.y.dim[1], d.Q = d.y.dim[2], d.K = d.y.dim[3];
    d.R = d.window.size[HEIGHT], d.S = d.window.size[WIDTH];
    d.group_c = d.C / d.groups;
    d.group_k = d.K / d.groups;
    d.filter = d.R * d.S * d.group_c;
    d.pixels = d.N * d.P * d.Q;
    if (adds_integers(d.type) && !multiplies_integers(g, n, &d))
        d.type = PRODUCT_REAL;
    return d;
}

bool is_biased(const Node *n)
{
    return operand_named(n, "bias") != NONE || result_named(n, "db") != NONE;
}

// ---- launches ---------------------------------------------------------------

// Sets the constants of a convolution, which are the same for its three
// launches, so that they share one struct.  Products of integers count channels
// as they read them, several at once.
void convolution_constants(const Node *n, Launch *l, Convolution d)
{
    const Attr *attr = n->attr;
    if (adds_integers(d.type)) d.C /= packed_integers(l->g);
    const Constant constants[] = {
        { "N", d.N }, { "H", d.H }, { "W", d.W }, { "C", d.C },
        { "P", d.P }, { "Q", d.Q }, { "K", d.K }, { "R", d.R }, { "S", d.S },
        { "STRIDE_H", attr[CONV_STRIDE_H].i },
        { "STRIDE_W", attr[CONV_STRIDE_W].i },
        { "DILATION_H", attr[CONV_DILATION_H].i },
        { "DILATION_W", attr[CONV_DILATION_W].i },
        { "PAD_TOP", attr[CONV_PAD_TOP].i },
        { "PAD_LEFT", attr[CONV_PAD_LEFT].i }, { "GROUPS", d.groups },
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        launch_constant(l, constants[i].name, constants[i].value);
}

// Launches `kernel` with a block for each tile of a GEMM.
static void launch_gemm(const Node *n, Launch *l, const char *kernel,
                        Convolution d, const Gemm *m)
{
    int64_t tiles = tile_count(m->tile, m->size.rows, m->size.columns);
    int64_t grid = capped_product(m->size.times * m->splits, tiles);
    launch_kernel(l, kernel, grid, tile_threads(m->tile));
    convolution_constants(n, l, d);
    launch_tile(l, m->tile, &m->size);
}

// Returns the largest power of two, at most 8, that divides both.
static int64_t pack_of(int64_t a, int64_t b)
{
    enum { WIDEST = 8 };
    int64_t vec = 1;
    while (vec < WIDEST && a % (2 * vec) == 0 && b % (2 * vec) == 0)
        vec *= 2;
    return vec;
}

ProductSize convolution_size(const Convolution *d, ProductRole role)
{
    return (ProductSize){ d->pixels, d->group_k, d->filter, d->groups,
                          pack_of(d->group_c, d->group_c), d->type, role };
}

static Gemm forward_gemm(const Graph *g, const Convolution *d)
{
    ProductSize size = convolution_size(d, PRODUCT_FORWARD);
    return (Gemm){ .size = size, .tile = tile_of_pixels(g, &size),
                   .splits = 1 };
}

// With a stride, the pixels of dx fall into classes: conv_strided.cuh.
static Gemm dgrad_gemm(const Graph *g, const Convolution *d)
{
    int64_t stride_h = d->window.stride[HEIGHT];
    int64_t stride_w = d->window.stride[WIDTH];
    int64_t pixels =
        d->N * ceil_div(d->H, stride_h) * ceil_div(d->W, stride_w);
    int64_t classes = stride_h * stride_w;
    ProductSize size = { pixels, d->group_c,
                         ceil_div(d->R * d->S, classes) * d->group_k,
                         d->groups * classes, pack_of(d->group_k, d->group_c),
                         d->type, PRODUCT_DGRAD };
    return (Gemm){ .size = size, .tile = tile_of_pixels(g, &size),
                   .splits = 1 };
}

static Gemm wgrad_gemm(const Graph *g, const Convolution *d, int64_t splits)
{
    ProductSize size = { d->group_k, d->filter, d->pixels, d->groups,
                         pack_of(d->group_k, d->group_c), d->type,
                         PRODUCT_WGRAD };
    return (Gemm){ .size = size, .tile = tile_of_weights(g, &size),
                   .splits = splits };
}

// True if each filter reads one of several channels.
bool convolution_is_depthwise(const Convolution *d)
{
    return d->group_c == 1 && d->groups > 1;
}

// The tile of a thread of a depthwise kernel: pixels, and filters at once.
typedef struct DepthwiseTile { int64_t height, width, pack; } DepthwiseTile;

// A side of the tile of a data gradient is a multiple of its stride.
static DepthwiseTile depthwise_tile(const Convolution *d, bool dgrad)
{
    enum { SIDE = 4, PACK = 2 };
    bool packs = d->K == d->C && d->C % PACK == 0;
    // Several filters of a channel need registers for their sums over it.
    DepthwiseTile t = { d->K == d->C ? SIDE : SIDE / 2, SIDE,
                        packs ? PACK : 1 };
    if (dgrad) {
        int64_t h = d->window.stride[0], w = d->window.stride[1];
        t.height = h < t.height ? t.height / h * h : h;
        t.width = w < t.width ? t.width / w * w : w;
    }
    return t;
}

// Adds the tile as template arguments, after the kernel's constants.
static void launch_depthwise_tile(const Node *n, Launch *l, Convolution d,
                                  DepthwiseTile t)
{
    convolution_constants(n, l, d);
    launch_type_int(l, t.pack);
    launch_type_int(l, t.height);
    launch_type_int(l, t.width);
}

// Launches the forward kernel or the data gradient, a thread for each tile.
static void launch_depthwise(const Node *n, Launch *l, Convolution d,
                             bool dgrad)
{
    DepthwiseTile t = depthwise_tile(&d, dgrad);
    int64_t down = ceil_div(dgrad ? d.H : d.P, t.height);
    int64_t across = ceil_div(dgrad ? d.W : d.Q, t.width);
    launch_elements(l, dgrad ? "depthwise_dgrad" : "depthwise_forward",
                    d.N * down * across * ((dgrad ? d.C : d.K) / t.pack));
    launch_depthwise_tile(n, l, d, t);
}

// ---- sums of the result -----------------------------------------------------

// Returns the number of runs of tiles, each of several.  One word must hold the
// counts of their blocks (Summed in runtime/kernels/conv_sums.cuh).
// Returns 0 if no number of runs fits.
static int64_t sum_runs(int64_t tiles, int64_t across)
{
    enum { MOST = 8, FEWEST_TILES = 4, WORD = 64 };
    for (int64_t runs = MOST; runs > 1; runs--) {
        int64_t each = ceil_div(tiles, runs), blocks = 0;
        if (each < FEWEST_TILES || ceil_div(tiles, each) != runs) continue;
        blocks = capped_product(each, across);
        if (blocks + 2 <= INT64_C(1) << (WORD / runs < 62 ? WORD / runs : 62))
            return runs;
    }
    return tiles < 2 * FEWEST_TILES ? 1 : 0;
}

// The tiles of a product of pixels, rows of blocks, and the blocks of a row.
typedef struct SumTiles { int64_t tiles, across, runs; } SumTiles;

static SumTiles sum_tiles(const Gemm *m, int64_t groups)
{
    SumTiles s = { .across = groups *
                             ceil_div(m->size.columns, m->tile.columns) };
    s.tiles = m->size.times / groups * ceil_div(m->size.rows, m->tile.rows);
    s.runs = sum_runs(s.tiles, s.across);
    return s;
}

// Adds a result as the struct that stores it and makes its sums; its type is
// returned, to be added in its place.
static TypeArg launch_summed(const Graph *g, const Node *n, Launch *l,
                             SumTiles tiles)
{
    bool moments = n->kernel == CONV_MOMENTS;
    Shape shape = g->values[n->results[0]].shape;
    int results = moments ? 3 : 2;
    Launch *to = launch_members(l, "Summed");
    launch_type_int(to, columns_of(shape));
    launch_type_int(to, tiles.runs);
    launch_value(to, n->results[0]);
    launch_value(to, n->results[1 + results]);
    launch_header(to);
    Launch *sums = launch_operand(to, moments ? "MomentSums" : "ProductSums");
    if (!moments) launch_type_int(sums, columns_of(shape));
    for (int k = 1; k <= results; k++) launch_value(sums, n->results[k]);
    if (moments) launch_value(sums, n->operands[MOMENTS_WEIGHT]);
    else launch_load(sums, n, PRODUCTS_X);
    for (int k = PRODUCTS_MEAN; !moments && k < PRODUCTS_HEADER; k++)
        launch_value(sums, n->operands[k]);
    launch_samples(sums);
    launch_int(sums, rows_of(shape) / shape.dim[0], "pixels");
    launch_real(sums, n->attr[CONV_EPSILON].f, "epsilon");
    launch_result_type(to, n->results[0]);
    return (TypeArg){ .source = to };
}

TypeArg launch_normalized(Launch *l, const Node *n, ValueId y)
{
    enum { OTHER = CONV_NORM + NORM_OTHER };
    Launch *to = launch_members(l, "NormalizedStore");
    launch_act(to, n);
    launch_type(to, stored_name(is_half(l->g->map) ? l->g->map : l->g->real));
    launch_type(to, n->operands[OTHER] != NONE ? "true" : "false");
    launch_value(to, y);
    for (int k = NORM_GAMMA; k <= NORM_VARIANCE; k++)
        launch_value(to, n->operands[CONV_NORM + k]);
    launch_real(to, n->attr[CONV_EPSILON].f, "epsilon");
    launch_load(to, n, OTHER);
    launch_result_type(to, y);
    return (TypeArg){ .source = to };
}

static SumTiles forward_tiles(const Graph *g, const Convolution *d)
{
    Gemm m = forward_gemm(g, d);
    return sum_tiles(&m, d->groups);
}

bool convolution_rounds(const Graph *g, const Node *n, int k)
{
    Convolution d = convolution_of(g, n);
    return k == 1 && product_bytes(d.type) == 2 &&
           !convolution_is_depthwise(&d);
}

TypeArg launch_integers(Launch *l, const Node *n, ValueId y)
{
    const Graph *g = l->g;
    Launch *to = launch_members(l, "IntegerStore");
    if (is_normalized(n)) launch_type(to, "identity");
    else launch_act(to, n);
    launch_type(to, is_biased(n) ? "true" : "false");
    if (is_normalized(n)) {
        launch_type_as(to, launch_normalized(to, n, y));
    } else {
        launch_value(to, y);
        launch_result_type(to, y);
    }
    launch_value(to, g->values[n->operands[0]].scale);
    launch_value(to, g->values[n->operands[1]].scale);
    launch_value(to, n->operands[2]);
    return (TypeArg){ .source = to };
}

TypeArg convolution_forward_operands(Launch *l, const Node *n)
{
    launch_load(l, n, 0);
    launch_load(l, n, 1);
    TypeArg weight = l->type[--l->type_count];
    launch_value(l, n->operands[2]);
    return weight;
}

void convolution_forward_slots(Launch *l, const Node *n)
{
    launch_value(l, n->results[0]);
    TypeArg weight = convolution_forward_operands(l, n);
    launch_result_type(l, n->results[0]);
    launch_type_as(l, weight);
}

void convolution_integer_operands(Launch *l, const Node *n, TypeArg y)
{
    launch_packed(l, n->operands[0]);
    launch_type_as(l, y);
    launch_packed(l, n->operands[1]);
    launch_value(l, NONE);
}

void convolution_integer_slots(Launch *l, const Node *n)
{
    launch_type(l, "identity");
    launch_type(l, "false");
    TypeArg y = launch_integers(l, n, n->results[0]);
    convolution_integer_operands(l, n, y);
}

void convolution_forward(const Graph *g, const Node *n, Launch *l)
{
    Convolution d = convolution_of(g, n);
    if (convolution_is_depthwise(&d)) {
        launch_depthwise(n, l, d, false);
    } else {
        Gemm m = forward_gemm(g, &d);
        launch_gemm(n, l, "conv_forward", d, &m);
    }
    if (adds_integers(d.type)) {
        convolution_integer_slots(l, n);
        return;
    }
    if (is_normalized(n)) launch_type(l, "identity");
    else launch_act(l, n);
    launch_type(l, is_biased(n) ? "true" : "false");
    if (n->kernel == CONV_FORWARD) {
        convolution_forward_slots(l, n);
        return;
    }
    TypeArg type = is_normalized(n)
                       ? launch_normalized(l, n, n->results[0])
                       : launch_summed(g, n, l, forward_tiles(g, &d));
    TypeArg weight = convolution_forward_operands(l, n);
    launch_type_as(l, type);
    launch_type_as(l, weight);
}

static void launch_dgrad_gemm(const Node *n, Launch *l, Convolution d)
{
    Gemm m = dgrad_gemm(l->g, &d);
    bool strided = m.size.times > d.groups;
    launch_gemm(n, l, strided ? "conv_strided_dgrad" : "conv_dgrad", d, &m);
}

static SumTiles dgrad_tiles(const Graph *g, const Convolution *d)
{
    Gemm m = dgrad_gemm(g, d);
    return sum_tiles(&m, d->groups);
}

// The partial sums are those of the tiles and, of several runs, of the runs.
Shape convolution_partials(const Graph *g, const Node *n)
{
    Convolution d = convolution_of(g, n);
    if (convolution_is_depthwise(&d)) return shape_of(0);
    bool moments = n->kernel == CONV_MOMENTS;
    // A kernel in TF32 has no registers left for the products.
    if (!moments && d.type == PRODUCT_TF32) return shape_of(0);
    SumTiles s = moments ? forward_tiles(g, &d) : dgrad_tiles(g, &d);
    if (s.runs == 0) return shape_of(0);
    return shape_of(3, s.tiles + (s.runs > 1 ? s.runs : 0), (int64_t)2,
                    moments ? d.K : d.C);
}

void convolution_takes(Node *n, const Node *norm)
{
    n->attr[CONV_EPSILON].f = norm->attr[EPSILON].f;
}

// Adds what comes before a struct that takes the place of the mask.
static void launch_by_mask(const Node *n, Launch *l)
{
    launch_type(l, "by_mask");
    launch_value(l, n->results[0]);
    launch_load(l, n, DGRAD_DY);
    launch_load(l, n, DGRAD_WEIGHT);
}

// Adds the activation and all values of a data gradient.
static void launch_dgrad_slots(const Node *n, Launch *l)
{
    if (n->kernel == CONV_DGRAD) {
        launch_act(l, n);
        launch_slots(l, n, 1, 3);
        return;
    }
    if (n->kernel == CONV_PRODUCTS) {
        Convolution d = convolution_of(l->g, n);
        launch_act(l, n);
        TypeArg type = launch_summed(l->g, n, l, dgrad_tiles(l->g, &d));
        launch_slots(l, n, 0, 3);
        launch_type_as(l, type);
        return;
    }
    launch_by_mask(n, l);
    launch_mask_plus_other(l, n, DGRAD_MASK, DGRAD_OTHER);
    launch_result_type(l, n->results[0]);
}

static void launch_dgrad(const Graph *g, const Node *n, Launch *l)
{
    Convolution d = convolution_of(g, n);
    if (convolution_is_depthwise(&d)) {
        launch_depthwise(n, l, d, true);
    } else {
        launch_dgrad_gemm(n, l, d);
    }
}

void convolution_dgrad(const Graph *g, const Node *n, Launch *l)
{
    launch_dgrad(g, n, l);
    launch_dgrad_slots(n, l);
}

// The epilogue takes the place of a mask.
void convolution_transposed(const Graph *g, const Node *n, Launch *l,
                            ValueId bias)
{
    launch_dgrad(g, n, l);
    if (bias == NONE && n->act == NULL) {
        launch_dgrad_slots(n, l);
        return;
    }
    launch_by_mask(n, l);
    Launch *made = launch_operand(l, "PlusBias");
    launch_act(made, n);
    launch_type(made, bias != NONE ? "true" : "false");
    launch_value(made, bias);
    launch_result_type(l, n->results[0]);
}

// ---- the weight gradient ----------------------------------------------------

// The work of a block of depthwise_wgrad: vectors of filters, and rows of taps.
typedef struct DepthwiseBlock {
    DepthwiseTile tile;
    int64_t       vectors, rows;
} DepthwiseBlock;

// A block has up to 32 filters, in a power of two of vectors.  A thread has up
// to 50 sums.
static DepthwiseBlock depthwise_block(const Convolution *d)
{
    enum { FILTERS = 32, SUMS = 50 };
    DepthwiseTile t = depthwise_tile(d, false);
    int64_t vectors = 1, rows = SUMS / (d->S * t.pack);
    while (vectors * t.pack < d->K && vectors * t.pack < FILTERS) vectors *= 2;
    return (DepthwiseBlock){ t, vectors,
                             rows < 1 ? 1 : rows < d->R ? rows : d->R };
}

// Returns the blocks of one split.
static int64_t wgrad_blocks(const Graph *g, const Convolution *d)
{
    if (convolution_is_depthwise(d)) {
        DepthwiseBlock b = depthwise_block(d);
        return ceil_div(d->K / b.tile.pack, b.vectors) * ceil_div(d->R, b.rows);
    }
    Gemm m = wgrad_gemm(g, d, 1);
    return d->groups * tile_count(m.tile, d->group_k, d->filter);
}

// Partial sums may take at most a third of the bytes of x in 32 bits.  On
// tensor cores they may take as many where multiprocessors would have no block.
// Small nets are left out: gradients of weights are most of their arenas.
// Depthwise kernels are bound by memory and need more blocks.
static int64_t count_splits(const Graph *g, const Convolution *d)
{
    enum { LARGE = 1000000 };
    int64_t map = d->N * d->H * d->W * d->C;
    int64_t fitting = map / (d->K * d->filter);
    int64_t blocks = wgrad_blocks(g, d);
    bool full = !is_few_blocks(blocks * (fitting / 3));
    if (d->type == PRODUCT_REAL || map < LARGE || full) fitting /= 3;
    if (convolution_is_depthwise(d)) blocks = ceil_div(blocks, 4);
    return tile_splits(blocks, d->pixels, fitting);
}

void convolution_wgrad(const Graph *g, const Node *n, Launch *l)
{
    Convolution d = convolution_of(g, n);
    int64_t splits = n->attr[CONV_SPLITS].i;
    if (convolution_is_depthwise(&d)) {
        launch_kernel(l, "depthwise_wgrad", splits * wgrad_blocks(g, &d), 256);
        DepthwiseBlock b = depthwise_block(&d);
        launch_depthwise_tile(n, l, d, b.tile);
        launch_type_int(l, b.vectors);
        launch_type_int(l, b.rows);
    } else {
        Gemm m = wgrad_gemm(g, &d, splits);
        launch_gemm(n, l, "conv_wgrad", d, &m);
    }
    launch_type_int(l, splits);
    launch_type(l, is_biased(n) ? "true" : "false");
    launch_gradient_type(n, l);
    for (int k = 0; k < 2; k++) launch_gradient(g, n, l, k);
    for (int k = 0; k < 2; k++) launch_load(l, n, k);
}

// ---- dense layers -----------------------------------------------------------

// Returns the convolution of a map of one pixel; sets *n to a node of this
// part.
static Convolution of_one_pixel(const DenseProduct *p, int kernel, Node *n)
{
    Window one = { .size = { 1, 1 }, .stride = { 1, 1 },
                   .dilation = { 1, 1 } };
    *n = (Node){ .op = p->conv, .kernel = (int8_t)kernel };
    convolution_attrs(&one, 1, n->attr);
    return (Convolution){ .window = one, .N = p->batch, .H = 1, .W = 1,
                          .C = p->inputs, .K = p->units, .R = 1, .S = 1,
                          .P = 1, .Q = 1, .groups = 1, .group_c = p->inputs,
                          .group_k = p->units, .filter = p->inputs,
                          .pixels = p->batch, .type = p->type };
}

void convolution_dense_forward(Launch *l, const DenseProduct *p)
{
    Node n;
    Convolution d = of_one_pixel(p, CONV_FORWARD, &n);
    Gemm m = forward_gemm(l->g, &d);
    launch_gemm(&n, l, "conv_forward", d, &m);
}

void convolution_dense_wgrad(Launch *l, const DenseProduct *p)
{
    Node n;
    Convolution d = of_one_pixel(p, CONV_MOMENTUM, &n);
    Gemm m = wgrad_gemm(l->g, &d, 1);
    launch_gemm(&n, l, "conv_wgrad", d, &m);
    launch_type_int(l, 1);
}

void convolution_dense_dgrad(Launch *l, const DenseProduct *p)
{
    Node n;
    Convolution d = of_one_pixel(p, CONV_DGRAD, &n);
    launch_dgrad_gemm(&n, l, d);
}

// ---- costs ------------------------------------------------------------------

// Returns the picoseconds of the GEMM of part `kernel` of conv.
static int64_t tiles_time(const Graph *g, const Convolution *d, int kernel,
                          int64_t splits, GemmOperand rows, GemmOperand columns)
{
    bool forward = kernel == CONV_FORWARD || kernel == CONV_MOMENTS ||
                   kernel == CONV_NORMALIZED;
    bool wgrad = kernel == CONV_WGRAD || kernel == CONV_MOMENTUM;
    Gemm m = forward ? forward_gemm(g, d)
           : wgrad   ? wgrad_gemm(g, d, splits)
                     : dgrad_gemm(g, d);
    m.rows = rows;
    m.columns = columns;
    return gemm_time(graph_gpu(g), &m);
}

// Counts a multiplication and an addition for each weight and pixel.
void convolution_cost(const Graph *g, const Node *n, Cost *cost)
{
    Convolution d = convolution_of(g, n);
    int64_t flops = capped_product(2 * d.pixels * d.K, d.filter);
    if (convolution_is_depthwise(&d)) {
        cost->flops = flops;
        cost->tiles = depthwise_time(graph_gpu(g), flops / 2);
    } else {
        cost_product(cost, flops);
        cost->tiles = tiles_time(g, &d, n->kernel, n->attr[CONV_SPLITS].i,
                                 gemm_operand(g, n->operands[0]),
                                 gemm_operand(g, n->operands[1]));
    }
    if (is_biased(n)) cost->flops = capped_sum(cost->flops, elements(d.y));
    if (n->kernel == CONV_ADD)
        cost->flops = capped_sum(cost->flops, elements(d.x));
    if (n->kernel == CONV_MOMENTS || n->kernel == CONV_PRODUCTS ||
        n->kernel == CONV_NORMALIZED)
        cost->flops = capped_sum(
            cost->flops,
            capped_product(4, elements(g->values[n->results[0]].shape)));
    cost->bytes = cost_bytes(g, n);
    cost_momentum(g, n, cost);
}

int64_t convolution_dense_time(const Graph *g, const DenseProduct *p,
                               int kernel, ValueId rows, ValueId columns)
{
    Node n;
    Convolution d = of_one_pixel(p, kernel, &n);
    return tiles_time(g, &d, kernel, 1, gemm_operand(g, rows),
                      gemm_operand(g, columns));
}

// ---- the gradient's nodes ---------------------------------------------------

// Returns the convolution of a weight gradient whose node is not made yet.
static Convolution wgrad_of(Graph *g, ValueId dy, ValueId x, ValueId weight,
                            const Node *forward)
{
    ValueId operands[] = { dy, x };
    Node n = *forward;
    n.kernel = CONV_WGRAD;
    n.operands = operands;
    n.results = &weight;
    return convolution_of(g, &n);
}

void convolution_weight_gradient(Gradient *c, const Op *conv,
                                 const Op *sum_splits, ValueId dy, ValueId x,
                                 bool with_bias)
{
    Graph *g = c->g;
    Node n = g->nodes[c->node];
    Convolution of = wgrad_of(g, dy, x, n.operands[1], &n);
    int64_t splits = count_splits(g, &of);
    ValueId operands[] = { dy, x };
    ValueId d[] = { NONE, NONE }, partial[] = { NONE, NONE };

    const ValueId param[] = { n.operands[1],
                              with_bias ? gradient_bias(c) : NONE };
    if (!c->wanted[param[0]]) {
        if (param[1] != NONE) column_gradient(c, param[1], dy);
        return;
    }
    for (int k = 0; k < 2; k++) {
        if (param[k] == NONE || !c->wanted[param[k]]) continue;
        d[k] = gradient_value_of(c, param[k]);
        partial[k] = splits == 1 ? d[k] : split_sums(g, param[k], splits);
    }
    NodeId wgrad = gradient_node(c, conv, CONV_WGRAD, 2, operands, 2, partial);
    g->nodes[wgrad].attr[CONV_SPLITS].i = splits;
    if (splits > 1) gradient_node(c, sum_splits, 0, 2, partial, 2, d);
    for (int k = 0; k < 2; k++)
        if (d[k] != NONE) gradient_add_to(c, param[k], d[k]);
}

// ---- functions of build rules -----------------------------------------------

bool convolution_divides(Build *b, Pos pos, int64_t groups, int64_t channels,
                         const char *whose)
{
    if (channels % groups == 0) return true;
    error(b->g->diag, pos,
          "%lld groups do not divide the %lld channels of the %s",
          (long long)groups, (long long)channels, whose);
    return false;
}

ValueId convolution_bias(Build *b, const Op *bias, ValueId sum)
{
    Graph *g = b->g;
    Shape shape = g->values[sum].shape;
    Build biased = *b;
    ValueId operands[] = { sum, NONE };
    biased.op = bias;
    biased.name = arena_print(g->arena, "%s.sum", b->name);
    operands[1] = build_param(b, "bias", shape_of(1, shape.dim[shape.rank - 1]),
                              (Init){ .scale = 0 }, true);
    ValueId y = build_node(&biased, 2, operands, NULL, shape);
    const char *name = g->values[sum].name;
    g->values[sum].name = g->values[y].name;
    g->values[y].name = name;
    return y;
}
