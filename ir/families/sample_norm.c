// layernorm and groupnorm, which differ only in their calls:
//
//   %4 y, %5 mean, %6 scale = groupnorm(%1 x, weight, bias)
//   ...
//   %20 d.weight, %21 d.bias = groupnorm.columns(%19 dy, %1, %5, %6)
//   %22 d.x = groupnorm.grad(%19, %1, weight, %5, %6)
//
// Values mean and scale = 1 / sqrt(variance + epsilon) have one number per
// statistic and are kept only for the gradient.  With many rows, part columns
// stores partial sums, which a sum_splits node adds.
#include <math.h>
#include "../op/activation_grad.h"
#include "column_reduce.h"
#include "sample_norm.h"
#include "../op/op_checks.h"
#include "../gpu/gemm_tile.h"

enum Args { EPSILON_ARG, SCALE_ARG, BIAS_ARG };
enum Attrs { EPSILON, GROUPS, PIXELS, SPLITS };
enum Parts { FORWARD_KERNEL, COLUMNS, GRAD };
enum { X, WEIGHT, BIAS };               // operands of the forward kernel

const AttrSpec normal_attrs[] = {
    { "epsilon", ATTR_FLOAT, 0, 0 }, { "groups", ATTR_INT, 1, 1 << 24 },
    { "pixels", ATTR_INT, 1, 0x1p62 },
    { "splits", ATTR_INT, 1, MOST_SPLITS }, { .name = NULL },
};

// How the elements of x [rows, channels] are grouped into statistics.
typedef struct Dims {
    int64_t rows, channels, groups, pixels;
    int64_t width;              // channels of a group
    int64_t statistics, count;  // number, and the elements of one
} Dims;

static Dims dims_of(const Attr *attr, Shape x)
{
    Dims d = { .rows = rows_of(x), .channels = columns_of(x),
               .groups = attr[GROUPS].i, .pixels = attr[PIXELS].i };
    d.width = d.channels / d.groups;
    d.statistics = d.rows / d.pixels * d.groups;
    d.count = d.pixels * d.width;
    return d;
}

// ---- from a call to nodes ---------------------------------------------------

static void add_result(Build *b, NodeId n, int k, const char *suffix,
                       int64_t statistics)
{
    Graph *g = b->g;
    ValueId v = graph_value(g, arena_print(g->arena, "%s.%s", b->name, suffix),
                            ACTIVATION, g->real, shape_of(1, statistics),
                            b->pos);
    g->nodes[n].results[k] = v;
    g->values[v].def = n;
}

ValueId normal_build(Build *b, int64_t groups, int64_t pixels,
                     const ArgValue *arg)
{
    Graph *g = b->g;
    Shape x = g->values[b->operand[0]].shape;
    Shape channels = shape_of(1, columns_of(x));
    ValueId operands[] = { b->operand[0], NONE, NONE };
    Attr attr[] = { [EPSILON] = { .f = arg[EPSILON_ARG].f },
                    [GROUPS] = { .i = groups }, [PIXELS] = { .i = pixels },
                    [SPLITS] = { .i = columns_splits(x) } };

    build_affine(b, &arg[SCALE_ARG], channels, &operands[WEIGHT]);
    ValueId y = build_node(b, 3, operands, attr, x);
    if (g->mode == TRAIN) {
        Dims d = dims_of(attr, x);
        add_result(b, g->values[y].def, 1, "mean", d.statistics);
        add_result(b, g->values[y].def, 2, "scale", d.statistics);
    }
    return y;
}

Shape normal_shape(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[X]].shape;
    bool fits = x.rank > 1 && columns_of(x) % n->attr[GROUPS].i == 0 &&
                rows_of(x) % n->attr[PIXELS].i == 0 &&
                is_vector_of(g, n, WEIGHT, columns_of(x)) &&
                is_vector_of(g, n, BIAS, columns_of(x));
    return fits ? x : shape_of(0);
}

// ---- gradient ---------------------------------------------------------------

static void parameter_gradients(Gradient *c, ValueId dz)
{
    Graph *g = c->g;
    Node n = g->nodes[c->node];
    int64_t splits = n.attr[SPLITS].i;
    ValueId operands[] = { dz, n.operands[X], n.results[1], n.results[2] };
    ValueId sum[] = { NONE, NONE }, partial[] = { NONE, NONE };
    if (!gradient_wanted(c, WEIGHT) && !gradient_wanted(c, BIAS)) return;

    for (int k = 0; k < 2; k++) {
        if (!gradient_wanted(c, WEIGHT + k)) continue;
        sum[k] = gradient_value(c, WEIGHT + k);
        partial[k] = splits == 1
            ? sum[k] : split_sums(g, n.operands[WEIGHT + k], splits);
    }
    gradient_node(c, n.op, COLUMNS, 4, operands, 2, partial);
    if (splits > 1 && partial[0] == NONE)
        gradient_node(c, ops[OP_sum_splits], 0, 2,
                      (ValueId[]){ partial[1], NONE }, 2,
                      (ValueId[]){ sum[1], NONE });
    else if (splits > 1)
        gradient_node(c, ops[OP_sum_splits], 0, 2, partial, 2, sum);
    for (int k = 0; k < 2; k++)
        if (sum[k] != NONE) gradient_add(c, WEIGHT + k, sum[k]);
}

// The parameters' gradients come first, so that the data gradient is the last
// to read x and dy and may overwrite either.
void normal_gradient(Gradient *c)
{
    ValueId dz = act_gradient(c);
    parameter_gradients(c, dz);
    if (!gradient_wanted(c, X)) return;
    Node n = c->g->nodes[c->node];
    ValueId operands[] = { dz, n.operands[X], n.operands[WEIGHT], n.results[1],
                           n.results[2], NONE };
    ValueId dx = gradient_value(c, X);
    gradient_node(c, n.op, GRAD, 6, operands, 1, &dx);
    gradient_add(c, X, dx);
}

// ---- launches ---------------------------------------------------------------

// Additions and multiplications for each element, by part.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    static const int flops[] = { 8, 4, 12 };
    Shape x = g->values[n->operands[0]].shape;
    cost->flops = capped_product(elements(x), flops[n->kernel]);
    cost->bytes = cost_bytes(g, n);
}

static void launch_dims(Launch *l, Dims d)
{
    launch_constant(l, "GROUPS", d.groups);
    launch_constant(l, "PIXELS", d.pixels);
}

// A team of threads computes a statistic: a warp if it has few elements.
static void launch_teams(Launch *l, const char *kernel, Dims d)
{
    int64_t team = d.count <= 1024 ? 32 : d.count <= 16384 ? 256 : 512;
    int block = team > 256 ? (int)team : 256;
    launch_kernel(l, kernel, ceil_div(d.statistics, block / team), block);
    launch_constant(l, "STATISTICS", d.statistics);
    launch_constant(l, "C", d.channels);
    launch_dims(l, d);
    launch_constant(l, "TEAM", team);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    Shape x = g->values[n->operands[X]].shape;
    launch_teams(l, "groupnorm_forward", dims_of(n->attr, x));
    launch_act(l, n);
    launch_slots(l, n, 3, BIAS + 1);
    launch_real(l, n->attr[EPSILON].f, "epsilon");
}

static void columns_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape x = g->values[n->operands[1]].shape;
    launch_columns(l, "groupnorm_columns", rows_of(x), columns_of(x),
                   n->attr[SPLITS].i);
    launch_dims(l, dims_of(n->attr, x));
    launch_slots(l, n, 2, 4);
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape x = g->values[n->operands[1]].shape;
    launch_teams(l, "groupnorm_gradient", dims_of(n->attr, x));
    launch_act(l, n);
    launch_slots(l, n, 1, 6);
}

// ---- references -------------------------------------------------------------

// Returns the statistic of element i.
static int64_t statistic_of(Dims d, int64_t i)
{
    return i / d.channels / d.pixels * d.groups + i % d.channels / d.width;
}

// Returns the index of the j-th element of statistic s.
static int64_t element_of(Dims d, int64_t s, int64_t j)
{
    int64_t row = s / d.groups * d.pixels + j / d.width;
    return row * d.channels + s % d.groups * d.width + j % d.width;
}

static void statistic(const Ref *r, Dims d, int64_t s, double *mean,
                      double *scale)
{
    const double *x = r->in[X];
    double sum = 0, squares = 0, count = (double)d.count;
    for (int64_t j = 0; j < d.count; j++) sum += x[element_of(d, s, j)];
    *mean = sum / count;
    for (int64_t j = 0; j < d.count; j++)
        squares += pow(x[element_of(d, s, j)] - *mean, 2);
    *scale = pow(squares / count + r->n->attr[EPSILON].f, -0.5);
}

static void reference(const Ref *r)
{
    Dims d = dims_of(r->n->attr, ref_in(r, X));
    for (int64_t s = 0; s < d.statistics; s++) {
        double mean, scale;
        statistic(r, d, s, &mean, &scale);
        for (int64_t j = 0; j < d.count; j++) {
            int64_t i = element_of(d, s, j), c = i % d.channels;
            double y = (r->in[X][i] - mean) * scale;
            if (r->in[WEIGHT] != NULL) y *= r->in[WEIGHT][c];
            if (r->in[BIAS] != NULL) y += r->in[BIAS][c];
            r->out[0][i] = ref_act(r, y);
        }
        if (r->out[1] == NULL) continue;
        r->out[1][s] = mean;
        r->out[2][s] = scale;
    }
}

static void columns_reference(const Ref *r)
{
    Dims d = dims_of(r->n->attr, ref_in(r, 1));
    int64_t splits = r->n->attr[SPLITS].i, run = ceil_div(d.rows, splits);
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; r->out[k] != NULL && i < splits * d.channels; i++)
            r->out[k][i] = 0;
    for (int64_t i = 0; i < d.rows * d.channels; i++) {
        int64_t s = statistic_of(d, i), row = i / d.channels;
        int64_t at = row / run * d.channels + i % d.channels;
        double normal = (r->in[1][i] - r->in[2][s]) * r->in[3][s];
        if (r->out[0] != NULL) r->out[0][at] += r->in[0][i] * normal;
        if (r->out[1] != NULL) r->out[1][at] += r->in[0][i];
    }
}

// Adds the gradients through the element itself, the mean and the scale.
static void grad_reference(const Ref *r)
{
    Dims d = dims_of(r->n->attr, ref_in(r, 1));
    double **in = r->in, count = (double)d.count;
    for (int64_t s = 0; s < d.statistics; s++) {
        double by_mean = 0, by_scale = 0, mean = in[3][s], scale = in[4][s];
        for (int64_t j = 0; j < d.count; j++) {
            int64_t i = element_of(d, s, j);
            double weight = in[2] != NULL ? in[2][i % d.channels] : 1;
            by_mean -= scale * weight * in[0][i];
            by_scale += weight * in[0][i] * (in[1][i] - mean);
        }
        for (int64_t j = 0; j < d.count; j++) {
            int64_t i = element_of(d, s, j);
            double weight = in[2] != NULL ? in[2][i % d.channels] : 1;
            double slope = -pow(scale, 3) * (in[1][i] - mean) / count;
            double dx = scale * weight * in[0][i] + by_mean / count +
                        by_scale * slope;
            r->out[0][i] = in[5] != NULL
                ? r->n->act->act_gradient(dx, in[5][i]) : dx;
        }
    }
}

const Kernel normal_kernels[] = {
    [FORWARD_KERNEL] = { .name = "", .results = "y^% mean? scale?",
      .in_place = "y/x", .cost = cost, .launch = launch,
      .reference = reference },
    [COLUMNS] = { .name = "columns", .operands = "dy^ x^ mean scale",
      .results = "dweight? dbias?", .cost = cost, .launch = columns_launch,
      .reference = columns_reference },
    [GRAD] = { .name = "grad", .operands = "dy^ x^ weight? mean scale mask?^",
      .results = "dx^", .in_place = "dx/dy dx/x dx/mask", .cost = cost,
      .launch = grad_launch, .reference = grad_reference },
    { .results = NULL },
};
