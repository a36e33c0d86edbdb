// dense: y = x w^T and its two gradients.  The GEMMs of a small layer are a
// convolution's of maps of one pixel; those of a large one are cuBLAS's.
//
// A convolution's kernels also add the bias and make its gradient.  A program
// whose dense layers are all small needs neither the library nor a workspace.
// A layer is small if it has at most 1024 inputs and 2^17 weights.  Longer sums
// in so few blocks would take longer than a launch of the library.
//
// A large layer with a bias is two nodes, and stays so if the library stores
// the result:
//
//   %3 fc.product = dense(%1, %2 fc.weight)
//   %5 fc = bias(%3, %4 fc.bias)
//
// Every GEMM of cuBLAS has its own workspace in the arena, alive for one step.
// It holds the partial sums of splits with at least 128 terms.  The splits fill
// a GPU of 132 multiprocessors with tiles of 128 x 128.  Its size depends only
// on the shape, from 64 KiB to 4 MiB; 16 KiB are enough for any of its GEMMs.
//
// The library can't add to a momentum, which a skipped step must not change.
// Nor can it multiply by an activation's derivative, so that the gradient of a
// map could overwrite the map.  A convolution's GEMMs can do both and need no
// workspace, but their sums have another order.  So the program alone, and no
// pass, decides between the two.  The weight gradient of a large layer is a
// convolution's if the optimizer begins with a momentum (Op.momentum).  Its
// data gradient is one if the operand is a view of an activated map, or of its
// maxima (attribute own_dgrad).
//
// If maps have 16 bits, all layers are a convolution's.  The library multiplies
// 16 bits only by 16 bits and would need a copy of the weights.  These read the
// weights, most of the traffic, as they are or from the copies that pass
// round_weights makes of all.
#include "../op/activation_grad.h"
#include "../families/column_reduce.h"
#include "../families/conv_gemm.h"
#include "../families/momentum.h"
#include "../op/op_row.h"
#include "../gpu/precision.h"
#include "../op/op_checks.h"

enum { UNITS, BIAS, BEGUN };
enum { FORWARD_KERNEL, DGRAD, WGRAD, MOMENTUM, MASKED };
enum { OWN_DGRAD };             // attribute

static const ArgSpec args[] = {
    { "units", ARG_INT, NULL, 1, INT32_MAX, "elements of the result" },
    { "bias", ARG_BOOL, "true", 0, 1, "true: a bias is added" },
    INIT_ARG,
    { .name = NULL },
};

static const AttrSpec attrs[] = {
    { "own_dgrad", ATTR_INT, 0, 1 }, { .name = NULL },
};

static Shape shape(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[0]].shape;
    Shape weight = g->values[n->operands[1]].shape;
    bool fits = x.rank == 2 && weight.rank == 2 && x.dim[1] == weight.dim[1];
    return fits ? shape_of(2, x.dim[0], weight.dim[0]) : shape_of(0);
}

// True if the GEMMs of a layer with these weights [units, inputs] are the
// library's.
static bool is_library(const Graph *g, Shape weight)
{
    enum { MOST_INPUTS = 1024, MOST_WEIGHTS = 1 << 17 };
    bool small = weight.dim[1] <= MOST_INPUTS &&
                 weight.dim[0] <= MOST_WEIGHTS / weight.dim[1];
    bool quantizes = g->mode != INFER && g->training.quantize != NULL;
    return g->map == g->real && !small && !quantizes;
}

// Makes the workspace of a GEMM with result v, of `terms` terms per element;
// NONE if it is not the library's.  The layer has these weights.
static ValueId workspace(Graph *g, ValueId v, ValueId weight, int64_t terms)
{
    enum { LEAST = 64 << 10, MOST = 4 << 20, ALIGN = 256 };
    enum { TILE = 128, BUSY = 132, FEWEST_TERMS = 128 };
    if (!is_library(g, g->values[weight].shape)) return NONE;
    Value result = g->values[v];
    int64_t tiles = ceil_div(result.shape.dim[0], TILE) *
                    ceil_div(result.shape.dim[1], TILE);
    int64_t splits = ceil_div(BUSY, tiles), most = terms / FEWEST_TERMS;
    if (splits > most) splits = most;
    int64_t bytes = value_bytes(&result);
    bytes = splits < 2 ? LEAST : bytes > MOST / splits ? MOST : splits * bytes;
    if (bytes < LEAST) bytes = LEAST;
    return graph_value(g, arena_print(g->arena, "%s.workspace", result.name),
                       WORKSPACE, U8,
                       shape_of(1, ceil_div(bytes, ALIGN) * ALIGN), result.pos);
}

// ---- build -----------------------------------------------------------------

static const Node *maker_of(const Graph *g, ValueId v)
{
    NodeId def = g->values[v].def;
    return def == NONE ? NULL : &g->nodes[def];
}

// True if x is a view of an activation's result, or of its maxima, where pass
// fuse_pool moves the activation after the maximum.
static bool is_activated_map(const Graph *g, ValueId x)
{
    const Node *n = maker_of(g, x);
    if (n == NULL || !(n->op->flags & VIEW)) return false;
    unsigned wanted = ACT;
    for (; n != NULL && n->op->flags & (VIEW | SELECTS);
         n = maker_of(g, n->operands[0]))
        if (n->op->flags & SELECTS) wanted = GATES;
    return n != NULL && n->op->flags & wanted;
}

// cuBLAS counts rows and columns in int.
static bool fits_library(Build *b)
{
    Shape x = b->g->values[b->operand[0]].shape;
    for (int i = 0; i < 2; i++) {
        if (x.dim[i] <= INT32_MAX) continue;
        error(b->g->diag, b->operand_pos[0], "dense takes at most %d %s, but "
              "this is %lld", INT32_MAX, i == 0 ? "samples" : "numbers",
              (long long)x.dim[i]);
        return false;
    }
    return true;
}

static ValueId build_product(Build *b)
{
    Graph *g = b->g;
    Shape x = g->values[b->operand[0]].shape;
    int64_t units = b->arg[UNITS].i;
    Init init = init_of(&b->arg[BEGUN], (double)x.dim[1], (double)units);
    Shape shape = shape_of(2, units, x.dim[1]);
    bool library = is_library(g, shape);
    ValueId weight = build_param(b, "weight", shape, init, true);
    ValueId operands[] = { b->operand[0], weight };
    Build product = *b;
    if (b->arg[BIAS].i && library)
        product.name = arena_print(g->arena, "%s.product", b->name);
    Attr attr[MAX_ATTRS] = {
        [OWN_DGRAD] = { .i = library && is_activated_map(g, b->operand[0]) },
    };
    ValueId y = build_node(&product, 2, operands, attr,
                           shape_of(2, x.dim[0], units));
    ValueId space = workspace(g, y, weight, x.dim[1]);
    if (space == NONE) return y;
    NodeId id = g->values[y].def;
    g->nodes[id].results[1] = space;
    g->values[space].def = id;
    return y;
}

static ValueId build(Build *b)
{
    if (!build_wants(b, 0, 2, "[features], as flatten() gives") ||
        !fits_library(b))
        return NONE;
    ValueId y = build_product(b);
    if (!b->arg[BIAS].i) return y;
    const Node *product = maker_of(b->g, y);
    if (result_named(product, "workspace") == NONE)
        return convolution_bias(b, &op_bias, y);

    Shape result = b->g->values[y].shape;
    ValueId bias = build_param(b, "bias", shape_of(1, result.dim[1]),
                               (Init){ .scale = 0 }, true);
    ValueId operands[] = { y, bias };
    Build biased = *b;
    biased.op = &op_bias;
    return build_node(&biased, 2, operands, NULL, result);
}

// ---- gradient --------------------------------------------------------------

// True if a parameter's update begins with its momentum, so that the launch of
// a gradient may add to it (pass fuse_momentum).
static bool moves_a_momentum(const Graph *g)
{
    Momentum m;
    return g->training.optimizer != NULL &&
        g->training.optimizer->momentum != NULL &&
           g->training.optimizer->momentum(g, &m) && !is_accumulating(g);
}

// Makes the weight gradient, and the bias gradient if the GEMM adds the bias.
static void weight_gradient(Gradient *c, ValueId dz)
{
    Node n = c->g->nodes[c->node];
    ValueId operands[] = { dz, n.operands[0] };
    const ValueId param[] = { n.operands[1], gradient_bias(c) };
    ValueId d[] = { NONE, NONE };
    if (!c->wanted[param[0]]) {
        if (param[1] != NONE) column_gradient(c, param[1], dz);
        return;
    }
    for (int k = 0; k < 2; k++)
        if (param[k] != NONE && c->wanted[param[k]])
            d[k] = gradient_value_of(c, param[k]);
    int64_t terms = c->g->values[dz].shape.dim[0];
    ValueId space = moves_a_momentum(c->g)
        ? NONE
        : workspace(c->g, d[0], param[0], terms);
    ValueId results[] = { d[0], d[1], space };
    gradient_node(c, &op_dense, WGRAD, 2, operands, 3, results);
    for (int k = 0; k < 2; k++)
        if (d[k] != NONE) gradient_add_to(c, param[k], d[k]);
}

static void data_gradient(Gradient *c, ValueId dz)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId operands[] = { dz, c->g->nodes[c->node].operands[1] };
    ValueId d = gradient_value(c, 0);
    int64_t terms = c->g->values[dz].shape.dim[1];
    bool own = c->g->nodes[c->node].attr[OWN_DGRAD].i;
    ValueId results[] = {
        d, own ? NONE : workspace(c->g, d, operands[1], terms)
    };
    gradient_node(c, &op_dense, DGRAD, 2, operands, 2, results);
    gradient_add(c, 0, d);
}

// The weight gradient comes first, so that the data gradient may overwrite x.
static void gradient(Gradient *c)
{
    ValueId dz = act_gradient(c);
    weight_gradient(c, dz);
    data_gradient(c, dz);
}

// ---- launches --------------------------------------------------------------

// The sizes of a part's GEMM.
typedef struct Sizes {
    int64_t batch, inputs, units;
} Sizes;

static Sizes sizes(const Graph *g, const Node *n)
{
    const Value *v = g->values;
    Shape a = v[n->operands[0]].shape, b = v[n->operands[1]].shape;
    if (n->kernel == FORWARD_KERNEL)
        return (Sizes){ a.dim[0], a.dim[1], b.dim[0] };
    return (Sizes){ a.dim[0], b.dim[1], a.dim[1] };
}

static void launch_product(const Graph *g, const Node *n, Launch *l)
{
    Sizes s = sizes(g, n);
    int64_t rows[] = { s.batch, s.batch, s.units };
    int64_t columns[] = { s.units, s.inputs, s.inputs };
    int64_t depth[] = { s.inputs, s.units, s.batch };
    static const int transpose[] = { 2, 0, 1 };     // b, none, a
    launch_library(l, "dense_product");
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[0]);
    launch_value(l, n->operands[1]);
    ValueId space = result_named(n, "workspace");
    launch_value(l, space);
    launch_int(l, value_bytes(&g->values[space]), "bytes");
    launch_int(l, transpose[n->kernel], "transpose");
    launch_int(l, rows[n->kernel], "m");
    launch_int(l, columns[n->kernel], "n");
    launch_int(l, depth[n->kernel], "k");
    if (g->tf32) launch_int(l, 1, "tf32");
}

// Returns the type of a GEMM that is not the library's.
static ProductType type_of(const Graph *g, const Node *n)
{
    bool both = n->kernel != FORWARD_KERNEL && n->kernel != DGRAD &&
                n->kernel != MASKED;
    ProductType type = product_type(g, n->operands[0],
                                    both ? n->operands[1] : n->results[0]);
    return weighed(g, type, n->operands[1]);
}

static bool rounds(const Graph *g, const Node *n, int k)
{
    return k == 1 && result_named(n, "workspace") == NONE &&
           product_bytes(type_of(g, n)) == 2;
}

// Returns the GEMM as a convolution.
static DenseProduct product_of(const Graph *g, const Node *n)
{
    Sizes s = sizes(g, n);
    return (DenseProduct){ &op_conv, type_of(g, n), s.batch, s.inputs,
                           s.units };
}

// Launches the GEMM as a convolution's weight gradient.
static void launch_wgrad(const Graph *g, const Node *n, Launch *l)
{
    DenseProduct p = product_of(g, n);
    convolution_dense_wgrad(l, &p);
    launch_type(l, is_biased(n) ? "true" : "false");
    launch_gradient_type(n, l);
    for (int k = 0; k < 2; k++) launch_gradient(g, n, l, k);
    for (int k = 0; k < 2; k++) launch_load(l, n, k);
}

// Launches the data gradient as a convolution's.
static void launch_dgrad(const Graph *g, const Node *n, Launch *l)
{
    DenseProduct p = product_of(g, n);
    convolution_dense_dgrad(l, &p);
    launch_act(l, n);
    launch_value(l, n->results[0]);
    launch_load(l, n, 0);
    launch_load(l, n, 1);
    if (n->kernel == MASKED) {
        launch_load(l, n, 2);
    } else {
        launch_type(l, plain_source);
        launch_value(l, NONE);
    }
    launch_result_type(l, n->results[0]);
}

static void launch_forward(const Graph *g, const Node *n, Launch *l)
{
    DenseProduct p = product_of(g, n);
    convolution_dense_forward(l, &p);
    if (adds_integers(p.type)) {
        convolution_integer_slots(l, n);
        return;
    }
    launch_act(l, n);
    launch_type(l, is_biased(n) ? "true" : "false");
    convolution_forward_slots(l, n);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    if (result_named(n, "workspace") != NONE) launch_product(g, n, l);
    else if (n->kernel == FORWARD_KERNEL) launch_forward(g, n, l);
    else if (n->kernel == DGRAD) launch_dgrad(g, n, l);
    else launch_wgrad(g, n, l);
}

// ---- cost ------------------------------------------------------------------

static int part_of_conv(const Node *n)
{
    switch (n->kernel) {
    case FORWARD_KERNEL: return CONV_FORWARD;
    case DGRAD: case MASKED: return CONV_DGRAD;
    default: return CONV_WGRAD;
    }
}

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    Sizes s = sizes(g, n);
    cost_product(cost, capped_product(2 * s.batch * s.inputs, s.units));
    if (result_named(n, "workspace") == NONE) {
        DenseProduct p = product_of(g, n);
        cost->tiles = convolution_dense_time(g, &p, part_of_conv(n),
                                             n->operands[0], n->operands[1]);
    }
    if (is_biased(n))
        cost->flops = capped_sum(cost->flops, s.batch * s.units);
    cost->bytes = cost_bytes(g, n);
    cost_momentum(g, n, cost);
}

// ---- references ------------------------------------------------------------

// Both operands as the GEMM reads them.
typedef struct Factors {
    Arena  *room;
    double *in[2];
} Factors;

static Factors factors(const Ref *r)
{
    Factors f = { .room = arena_new() };
    for (int k = 0; k < 2; k++)
        f.in[k] = product_operands(type_of(r->g, r->n), f.room, r->in[k],
                                   elements(ref_in(r, k)));
    return f;
}

static void reference(const Ref *r)
{
    Sizes s = sizes(r->g, r->n);
    Factors f = factors(r);
    for (int64_t n = 0; n < s.batch; n++)
        for (int64_t o = 0; o < s.units; o++) {
            double sum = 0;
            for (int64_t i = 0; i < s.inputs; i++)
                sum += f.in[0][n * s.inputs + i] * f.in[1][o * s.inputs + i];
            if (r->in[2] != NULL) sum += r->in[2][o];
            r->out[0][n * s.units + o] = ref_act(r, sum);
        }
    arena_free(f.room);
}

static void dgrad_reference(const Ref *r)
{
    Sizes s = sizes(r->g, r->n);
    Factors f = factors(r);
    for (int64_t n = 0; n < s.batch; n++)
        for (int64_t i = 0; i < s.inputs; i++) {
            double sum = 0;
            for (int64_t o = 0; o < s.units; o++)
                sum += f.in[0][n * s.units + o] * f.in[1][o * s.inputs + i];
            r->out[0][n * s.inputs + i] = sum;
        }
    if (r->n->kernel == MASKED) ref_mask(r, 2);
    arena_free(f.room);
}

static void wgrad_reference(const Ref *r)
{
    Sizes s = sizes(r->g, r->n);
    Factors f = factors(r);
    double *dw = ref_gradient(r, 0), *db = ref_gradient(r, 1);
    for (int64_t o = 0; dw != NULL && o < s.units; o++)
        for (int64_t i = 0; i < s.inputs; i++) {
            double sum = 0;
            for (int64_t n = 0; n < s.batch; n++)
                sum += f.in[0][n * s.units + o] * f.in[1][n * s.inputs + i];
            dw[o * s.inputs + i] += sum;
        }
    for (int64_t i = 0; db != NULL && i < s.batch * s.units; i++)
        db[i % s.units] += r->in[0][i];
    arena_free(f.room);
}

static const Kernel kernels[] = {
    [FORWARD_KERNEL] = { .name = "", .results = "y^% workspace?",
                       .rounds = rounds, .cost = cost, .launch = launch,
                       .reference = reference },
    [DGRAD] = { .name = "dgrad", .operands = "dy^ weight~",
                .results = "dx^ workspace?", .masking = MASKED,
                .rounds = rounds, .cost = cost, .launch = launch,
                .reference = dgrad_reference },
    [WGRAD] = { .name = "wgrad", .operands = "dy^ x^",
                .results = "dw db? workspace?", .with_momentum = MOMENTUM,
                .cost = cost, .launch = launch,
                .reference = wgrad_reference },
    [MOMENTUM] = { .name = "momentum",
                     .operands = "dy^ x^ weight momentum! bias? "
                                 "bias_momentum!? header",
                     .results = "", .cost = cost,
                     .launch = launch_wgrad,
                     .reference = wgrad_reference },
    [MASKED] = { .name = "masked", .operands = "dy~ weight~ mask~",
                 .results = "dx^", .in_place = "dx/mask", .rounds = rounds,
                 .cost = cost, .launch = launch_dgrad,
                 .reference = dgrad_reference },
    { .results = NULL },
};

const Op op_dense = {
    ROW(dense), .args = args, .attrs = attrs, .build = build, .shape = shape,
    .gradient = gradient, .kernels = kernels,
};
