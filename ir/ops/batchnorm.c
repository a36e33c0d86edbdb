// batchnorm: normalizes each channel to mean 0 and variance 1.
//
// In training, mean and variance are those of the batch, over all pixels of its
// samples; otherwise the running ones.  Sums over rows take two launches, for
// partial sums and their total, or one whose last block computes the total.
// The order is the same and fixed:
//   %5 partials = batchnorm.statistics(%1 x)
//   %6 mean, %7 variance, %8 factor = batchnorm.moments(%5, %1, weight)
//   %9 y = batchnorm(%1, weight, bias, mean, variance, %6, %7, %8)
//   ...
//   %20 partials = batchnorm.reduce(%19 dy, %1, %6)
//   %21 d.bias, %22 d.weight = batchnorm.sums(%20, %7)
//   %23 d.x = batchnorm.grad(%19, %1, weight, %6, %7, %21, %22)
//   batchnorm.commit(mean!, variance!, %6, %7, header)
// Only the last launch, in the update, writes the running statistics, so that
// recomputation does not change them.  Rows past the samples get no gradient.
#include <math.h>
#include <string.h>
#include "../op/activation_grad.h"
#include "../families/batch_moments.h"
#include "../families/column_reduce.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum Args { MOMENTUM_ARG, EPSILON_ARG, SCALE_ARG, BIAS_ARG, STATISTICS_ARG };
enum Parts {
    FORWARD_KERNEL, STATISTICS, MOMENTS, REDUCE, SUMS, GRAD, COMMIT,
    STATISTICS_MOMENTS, REDUCE_SUMS, GRAD_ADD, RUNNING_GRAD
};

// The last operands of GRAD and GRAD_ADD.
enum { MASK_SLOT = 7, OTHER };

// Operands of the forward kernel.
enum {
    X, WEIGHT, BIAS, MEAN, VARIANCE, BATCH_MEAN, BATCH_VARIANCE, FACTOR,
    OPERANDS
};

static const ArgSpec args[] = {
    { "momentum", ARG_FLOAT, "0.1", 0, 1, "weight of the batch in the "
      "running statistics" },
    { "epsilon", ARG_FLOAT, "1e-5", 1e-12, 1e6, "is added to the variance" },
    { "scale", ARG_BOOL, "true", 0, 1, "true: a weight for each channel" },
    { "bias", ARG_BOOL, "true", 0, 1, "true: a bias for each channel" },
    { "statistics", ARG_WORD, "auto|batch|running", 0, 0, "of a training step: "
      "those of the batch, which move the running ones, or the running ones "
      "as they are; auto: of the batch if a parameter of it is trained" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "momentum", ATTR_FLOAT, 0, 0 }, { "epsilon", ATTR_FLOAT, 0, 0 },
    { "pixels", ATTR_INT, 1, 0x1p62 },
    { "splits", ATTR_INT, 1, MOST_SPLITS }, { .name = NULL },
};

// ---- from a call to nodes ---------------------------------------------------

static ValueId new_value(Graph *g, const Node *n, const char *suffix,
                         Kind kind, Shape shape)
{
    return graph_value(g, arena_print(g->arena, "%s.%s", n->name, suffix),
                       kind, g->real, shape, n->pos);
}

// Makes the nodes for the batch's mean and variance, as operand's last slots.
static void add_statistics(Build *b, const Attr *attr, Shape channels,
                           ValueId *operand)
{
    Graph *g = b->g;
    Node of = { .name = b->name, .pos = b->pos };
    Shape sums = shape_of(3, attr[SPLITS].i, (int64_t)2, channels.dim[0]);
    ValueId partials = new_value(g, &of, "partials", WORKSPACE, sums);
    ValueId in[] = { partials, operand[X], operand[WEIGHT] };
    operand[BATCH_MEAN] = new_value(g, &of, "batch_mean", ACTIVATION, channels);
    operand[BATCH_VARIANCE] =
        new_value(g, &of, "batch_variance", ACTIVATION, channels);
    operand[FACTOR] = new_value(g, &of, "factor", ACTIVATION, channels);
    build_kernel(b, STATISTICS, attr, 1, &operand[X], 1, &partials);
    build_kernel(b, MOMENTS, attr, 3, in, 3, &operand[BATCH_MEAN]);
}

// True if a training step uses the batch's moments.  Without parameters, the
// name of the running mean tells whether the layer is frozen.
static bool takes_moments(Build *b, const ValueId *operand)
{
    const char *word = b->arg[STATISTICS_ARG].word;
    bool trained = false;
    for (int k = WEIGHT; k <= BIAS; k++)
        trained |= operand[k] != NONE && is_trained(&b->g->values[operand[k]]);
    if (operand[WEIGHT] == NONE && operand[BIAS] == NONE)
        trained = !build_freezes(b, "mean");
    return strcmp(word, "batch") == 0 ||
           (trained && strcmp(word, "running") != 0);
}

static ValueId build(Build *b)
{
    Graph *g = b->g;
    Shape shape = g->values[b->operand[0]].shape;
    if (!build_wants(b, 0, shape.rank == 2 ? 2 : 4,
                     "a map [height, width, channels] or [channels]"))
        return NONE;

    Shape channels = shape_of(1, columns_of(shape));
    Attr attr[] = {
        [MOMENTUM] = { .f = b->arg[MOMENTUM_ARG].f },
        [EPSILON] = { .f = b->arg[EPSILON_ARG].f },
        [PIXELS] = { .i = rows_of(shape) / shape.dim[0] },
        [SPLITS] = { .i = columns_splits(shape) },
    };
    ValueId operand[OPERANDS] = { b->operand[0], NONE, NONE, NONE, NONE, NONE,
                                  NONE, NONE };
    build_affine(b, &b->arg[SCALE_ARG], channels, &operand[WEIGHT]);
    operand[MEAN] = build_statistic(b, "mean", channels, 0);
    operand[VARIANCE] = build_statistic(b, "variance", channels, 1);
    bool of_batch = takes_moments(b, operand);
    for (int k = MEAN; k <= VARIANCE && of_batch; k++) {
        g->values[operand[k]].frozen = false;
        g->values[operand[k]].movers++;
    }
    if (g->mode == TRAIN && of_batch)
        add_statistics(b, attr, channels, operand);
    return build_node(b, OPERANDS, operand, attr, shape);
}

static Shape shape(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[X]].shape;
    bool fits = x.rank == 2 || x.rank == 4;
    for (int k = WEIGHT; k < OPERANDS; k++)
        fits = fits && is_vector_of(g, n, k, columns_of(x));
    return fits ? x : shape_of(0);
}

// ---- gradient and update ----------------------------------------------------

// Returns the gradient of a parameter, which is one of the two sums; if it is
// not trained, a workspace for the sum.
static ValueId sum_value(Gradient *c, int operand, const char *suffix)
{
    Node n = c->g->nodes[c->node];
    if (gradient_wanted(c, operand)) return gradient_value(c, operand);
    Shape channels = c->g->values[n.operands[MEAN]].shape;
    return new_value(c->g, &n, suffix, WORKSPACE, channels);
}

// Makes the two sums over dz and x, for moments that are operands of n.
static void make_sums(Gradient *c, ValueId dz, int mean, int variance,
                      ValueId *sum)
{
    Graph *g = c->g;
    Node n = g->nodes[c->node];
    const ValueId *in = n.operands;
    Shape sums = shape_of(3, n.attr[SPLITS].i, (int64_t)2,
                          g->values[in[MEAN]].shape.dim[0]);
    ValueId partials = new_value(g, &n, "d_partials", WORKSPACE, sums);
    sum[0] = sum_value(c, BIAS, "d_sum");
    sum[1] = sum_value(c, WEIGHT, "d_product");
    gradient_node(c, &op_batchnorm, REDUCE, 3,
                  (ValueId[]){ dz, in[X], in[mean] }, 1, &partials);
    gradient_node(c, &op_batchnorm, SUMS, 2,
                  (ValueId[]){ partials, in[variance] }, 2, sum);
    if (gradient_wanted(c, WEIGHT)) gradient_add(c, WEIGHT, sum[1]);
    if (gradient_wanted(c, BIAS)) gradient_add(c, BIAS, sum[0]);
}

// With running statistics, which depend on no sample.
static void running_gradient(Gradient *c, ValueId dz)
{
    if (gradient_wanted(c, WEIGHT) || gradient_wanted(c, BIAS)) {
        ValueId sum[2];
        make_sums(c, dz, MEAN, VARIANCE, sum);
    }
    if (!gradient_wanted(c, X)) return;
    const ValueId *in = c->g->nodes[c->node].operands;
    ValueId operands[] = { dz, in[WEIGHT], in[VARIANCE], NONE };
    ValueId dx = gradient_value(c, X);
    gradient_node(c, &op_batchnorm, RUNNING_GRAD, 4, operands, 1, &dx);
    gradient_add(c, X, dx);
}

static void gradient(Gradient *c)
{
    ValueId dz = act_gradient(c), sum[2];
    const ValueId *in = c->g->nodes[c->node].operands;
    if (in[BATCH_MEAN] == NONE) {
        running_gradient(c, dz);
        return;
    }
    make_sums(c, dz, BATCH_MEAN, BATCH_VARIANCE, sum);
    if (!gradient_wanted(c, X)) return;
    ValueId dx = gradient_value(c, X);
    in = c->g->nodes[c->node].operands;
    ValueId operands[] = { dz, in[X], in[WEIGHT], in[BATCH_MEAN],
                           in[BATCH_VARIANCE], sum[0], sum[1], NONE };
    gradient_node(c, &op_batchnorm, GRAD, 8, operands, 1, &dx);
    gradient_add(c, X, dx);
}

static const char *needs_moments(const Graph *g, const Node *n)
{
    (void)g;
    return n->operands[BATCH_MEAN] == NONE
               ? NULL : "mean and variance of the whole batch";
}

static void update(Graph *g, NodeId id)
{
    Node n = g->nodes[id];
    ValueId operands[] = { n.operands[MEAN], n.operands[VARIANCE],
                           n.operands[BATCH_MEAN], n.operands[BATCH_VARIANCE],
                           g->header };
    NodeId commit = graph_node(g, &op_batchnorm, COMMIT, UPDATE,
                               arena_print(g->arena, "%s.commit", n.name),
                               n.pos, 5, operands, 0, NULL);
    memcpy(g->nodes[commit].attr, n.attr, sizeof n.attr);
}

// ---- launches ---------------------------------------------------------------

static Shape in_shape(const Graph *g, const Node *n, int k)
{
    return g->values[n->operands[k]].shape;
}

// Operations for each element of the first operand.  MOMENTS reads one row of
// x.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    static const int flops[] = { 4, 3, 1, 4, 1, 8, 3, 3, 4, 9, 2 };
    cost->flops = capped_product(elements(in_shape(g, n, 0)), flops[n->kernel]);
    cost->bytes = cost_bytes(g, n);
    if (n->kernel == MOMENTS)
        cost->bytes -= (rows_of(in_shape(g, n, 1)) - 1) *
                       columns_of(in_shape(g, n, 1)) * dtype_bytes(g->real);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    Shape x = in_shape(g, n, X);
    bool of_batch = n->operands[BATCH_MEAN] != NONE;
    int64_t vec = vec_width(g, n, columns_of(x));
    launch_columns(l, "batchnorm_forward", rows_of(x), columns_of(x),
                   columns_runs(x, vec));
    launch_act(l, n);
    launch_type_int(l, vec);
    launch_slots(l, n, 1, BIAS + 1);
    launch_value(l, n->operands[of_batch ? BATCH_MEAN : MEAN]);
    launch_value(l, n->operands[of_batch ? BATCH_VARIANCE : VARIANCE]);
    launch_real(l, n->attr[EPSILON].f, "epsilon");
}

// Only with batch statistics: running ones have no precomputed factor.
static bool load(const Graph *g, const Node *n, Launch *l)
{
    if (n->operands[FACTOR] == NONE) return false;
    launch_struct(l, "Normalized");
    launch_type_int(l, columns_of(in_shape(g, n, X)));
    launch_act(l, n);
    launch_load(l, n, X);
    launch_value(l, n->operands[BATCH_MEAN]);
    launch_value(l, n->operands[FACTOR]);
    launch_value(l, n->operands[BIAS]);
    return true;
}

static void launch_rows(Launch *l, const Node *n)
{
    launch_samples(l);
    launch_int(l, n->attr[PIXELS].i, "pixels");
}

// Launches sums over rows in splits, and their totals, in one launch each or in
// one.  Partial sums are a matrix with a row for each split, which has the sums
// and the products side by side.
static void sums_launch(const Graph *g, const Node *n, Launch *l)
{
    static const struct {
        const char *kernel;
        int         x, results, operands;
    } of[] = {
        [STATISTICS] = { "batchnorm_statistics", 0, 1, 1 },
        [REDUCE] = { "batchnorm_reduce", 1, 1, 3 },
        [STATISTICS_MOMENTS] = { "batchnorm_statistics_moments", 0, 4, 2 },
        [REDUCE_SUMS] = { "batchnorm_reduce_sums", 1, 3, 4 },
    };
    bool ends = n->kernel == STATISTICS_MOMENTS || n->kernel == REDUCE_SUMS;
    Shape x = in_shape(g, n, of[n->kernel].x);
    launch_columns(l, of[n->kernel].kernel, rows_of(x), columns_of(x),
                   n->attr[SPLITS].i);
    launch_type_int(l, stored_vec(g, n, columns_of(x)));
    launch_type_int(l, vec_width(g, n, columns_of(x)));
    launch_slots(l, n, of[n->kernel].results, of[n->kernel].operands);
    if (ends) launch_header(l);
    launch_rows(l, n);
    if (ends) launch_real(l, n->attr[EPSILON].f, "epsilon");
}

static void ends_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape partials = in_shape(g, n, 0);
    bool moments = n->kernel == MOMENTS;
    launch_wide_columns(l, moments ? "batchnorm_moments" : "batchnorm_sums",
                        partials.dim[0], columns_of(partials));
    launch_slots(l, n, moments ? 3 : 2, moments ? 3 : 2);
    if (moments) launch_rows(l, n);
    launch_real(l, n->attr[EPSILON].f, "epsilon");
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape x = in_shape(g, n, 1);
    int64_t vec = vec_width(g, n, columns_of(x));
    launch_columns(l, "batchnorm_gradient", rows_of(x), columns_of(x),
                   columns_runs(x, vec));
    if (n->kernel == GRAD_ADD) {
        launch_type(l, "by_mask");
        launch_type_int(l, vec);
        launch_value(l, n->results[0]);
        launch_slots(l, n, 0, MASK_SLOT);
        launch_mask_plus_other(l, n, MASK_SLOT, OTHER);
        launch_result_type(l, n->results[0]);
    } else {
        launch_act(l, n);
        launch_type_int(l, vec);
        launch_slots(l, n, 1, MASK_SLOT + 1);
    }
    launch_rows(l, n);
    launch_real(l, n->attr[EPSILON].f, "epsilon");
}

static void running_grad_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape dy = in_shape(g, n, 0);
    int64_t vec = vec_width(g, n, columns_of(dy));
    launch_columns(l, "batchnorm_running_gradient", rows_of(dy), columns_of(dy),
                   columns_runs(dy, vec));
    launch_act(l, n);
    launch_type_int(l, vec);
    launch_slots(l, n, 1, 4);
    launch_real(l, n->attr[EPSILON].f, "epsilon");
}

static void commit_launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t channels = elements(in_shape(g, n, 0));
    launch_elements(l, is_accumulating(g) ? "batchnorm_commit_accumulated"
                                      : "batchnorm_commit", channels);
    Launch *arrays = launch_item(l, "RunningMoments");
    for (int k = 0; k < 4; k++) launch_value(arrays, n->operands[k]);
    launch_int(arrays, n->attr[PIXELS].i, NULL);
    launch_int(arrays, channels, NULL);
    launch_header(l);
    launch_real(l, n->attr[MOMENTUM].f, "momentum");
    if (!is_accumulating(g)) launch_samples(l);
}

// ---- references -------------------------------------------------------------

static void reference(const Ref *r)
{
    bool of_batch = r->in[BATCH_MEAN] != NULL;
    double *const norm[] = {
        r->in[WEIGHT], r->in[BIAS], r->in[of_batch ? BATCH_MEAN : MEAN],
        r->in[of_batch ? BATCH_VARIANCE : VARIANCE],
    };
    Shape x = ref_in(r, X);
    for (int64_t i = 0; i < elements(x); i++)
        r->out[0][i] = ref_act(r, normalized(r->in[X][i], i % columns_of(x),
                                             norm, r->n->attr[EPSILON].f));
}

static void grad_reference(const Ref *r)
{
    Shape x = ref_in(r, 1);
    double **in = r->in, rows = (double)batch_rows(r);
    for (int64_t i = 0; i < elements(x); i++) {
        int64_t c = i % columns_of(x);
        double normal = (in[1][i] - in[3][c]) / deviation(r, in[4][c]);
        double factor = in[2] != NULL ? in[2][c] : 1;
        double d = in[0][i] - in[5][c] / rows - normal * in[6][c] / rows;
        d *= factor / deviation(r, in[4][c]);
        if (i / columns_of(x) >= batch_rows(r)) d = 0;
        r->out[0][i] = d;
    }
    if (r->n->kernel == GRAD_ADD) ref_add_other(r, OTHER);
    ref_mask(r, MASK_SLOT);
}

static void running_grad_reference(const Ref *r)
{
    Shape dy = ref_in(r, 0);
    for (int64_t i = 0; i < elements(dy); i++) {
        int64_t c = i % columns_of(dy);
        double factor = r->in[1] != NULL ? r->in[1][c] : 1;
        r->out[0][i] = r->in[0][i] * factor / deviation(r, r->in[2][c]);
    }
    ref_mask(r, 3);
}

static void commit_reference(const Ref *r)
{
    double momentum = r->n->attr[MOMENTUM].f;
    double rows = batch_samples(r) * (double)r->n->attr[PIXELS].i;
    double unbiased = rows > 1 ? rows / (rows - 1) : 1;
    if (r->header[HEADER_SKIP] != 0 || rows < 1) return;
    for (int64_t c = 0; c < elements(ref_in(r, 0)); c++) {
        r->in[0][c] = (1 - momentum) * r->in[0][c] + momentum * r->in[2][c];
        r->in[1][c] = (1 - momentum) * r->in[1][c] +
                      momentum * unbiased * r->in[3][c];
    }
}

// ---- the operator -----------------------------------------------------------

static const Kernel kernels[] = {
    [FORWARD_KERNEL] = { .name = "", .results = "y/", .in_place = "y/x",
      .cost = cost, .launch = launch, .reference = reference,
      .load_work = 3, .load = load },
    [STATISTICS] = { .name = "statistics", .operands = "x~",
      .results = "partials", .ending = STATISTICS_MOMENTS, .cost = cost,
      .launch = sums_launch, .reference = statistics_reference },
    [MOMENTS] = { .name = "moments", .operands = "partials x~ weight?",
      .results = "mean variance factor", .cost = cost, .launch = ends_launch,
      .reference = moments_reference },
    [REDUCE] = { .name = "reduce", .operands = "dy/ x~ mean",
      .results = "partials", .ending = REDUCE_SUMS, .cost = cost,
      .launch = sums_launch, .reference = reduce_reference },
    [SUMS] = { .name = "sums", .operands = "partials variance",
      .results = "sum product", .cost = cost, .launch = ends_launch,
      .reference = sums_reference },
    [GRAD] = { .name = "grad",
      .operands = "dy/ x~ weight? mean variance sum product mask?/",
      .results = "dx/", .in_place = "dx/dy dx/x dx/mask", .adding = GRAD_ADD,
      .cost = cost, .launch = grad_launch, .reference = grad_reference },
    [COMMIT] = { .name = "commit",
      .operands = "mean! variance! batch_mean batch_variance header",
      .results = "", .cost = cost, .launch = commit_launch,
      .reference = commit_reference },
    [STATISTICS_MOMENTS] = { .name = "statistics_moments",
      .operands = "x~ weight? header",
      .results = "mean variance factor partials", .reduces = SUMS_OF_MOMENTS,
      .cost = cost,
      .launch = sums_launch, .reference = statistics_moments_reference },
    [REDUCE_SUMS] = { .name = "reduce_sums",
      .operands = "dy/ x~ mean variance header",
      .results = "sum product partials", .reduces = SUMS_OF_PRODUCTS,
      .cost = cost, .launch = sums_launch,
      .reference = reduce_sums_reference },
    [GRAD_ADD] = { .name = "grad_add",
      .operands = "dy/ x~ weight? mean variance sum product mask?/ other/",
      .results = "dx/", .in_place = "dx/dy dx/x dx/mask dx/other",
      .cost = cost, .launch = grad_launch, .reference = grad_reference },
    [RUNNING_GRAD] = { .name = "running_grad",
      .operands = "dy/ weight? variance mask?/", .results = "dx/",
      .in_place = "dx/dy dx/mask", .cost = cost,
      .launch = running_grad_launch, .reference = running_grad_reference },
    { .results = NULL },
};

const Op op_batchnorm = {
    ROW(batchnorm), .args = args, .attrs = attrs, .build = build,
    .shape = shape, .gradient = gradient, .update = update,
    .moments = BATCH_MEAN, .needs_whole_batch = needs_moments,
    .kernels = kernels,
};
