// softmax_cross_entropy: the loss of classification, one number per sample.
//
// The loss of the batch is the mean over its samples (tally), so the gradient
// of a row is (softmax(logits) - onehot(label)) / samples.  Rows past the
// caller's samples have no loss and no gradient.  A label out of range is an
// error in the data: its row is NaN, and the step is skipped.
//
// That is the plain case.  With labels per pixel, or with one of the arguments,
// the loss is PyTorch's weighted mean over the batch,
//
//   target[i,o] = (1 - smoothing) * w[y] * (o == y) + smoothing / C * w[o]
//   loss = sum over i,o of target[i,o] * -log(softmax(logits[i])[o])
//          / sum over i of w[y],  y = label[i], over the i with y != ignore
//
// so that the rows need the sum below first: part 2 stores both sums for runs
// of pixels.  If all samples have equal weight, part 0 divides those of each
// sample; with class weights or an ignored class it makes pairs of them.  It
// keeps the total weight for the gradient.  A batch in which nothing counts has
// loss 0 and no gradient.
//
//   %5 sums = softmax_cross_entropy.sum(logits, label)
//   %6 rows, %7 total = softmax_cross_entropy(logits, label, %5)
//   %9 d.logits = softmax_cross_entropy.wgrad(logits, label, %7)
#include <math.h>
#include "../families/loss.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { SMOOTHING, CLASS_WEIGHTS, IGNORE, WEIGHT };
enum { PLAIN, PLAIN_GRAD, SUM, WEIGHTED_GRAD };     // kernels
enum { SUMS = 2, TOTAL = 2 };   // operands of 0, 3

static const ArgSpec args[] = {
    { "label_smoothing", ARG_FLOAT, "0", 0, 1, "the part of the target that "
      "is spread over all classes" },
    { "class_weights", ARG_LIST, "[]", 0, 1e30, "weight of each class" },
    IGNORE_ARG, WEIGHT_ARG, { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "label_smoothing", ATTR_FLOAT, 0, 0 },
    { "class_weights", ATTR_LIST, 0, 0 }, { "ignore", ATTR_INT, 0, 0 },
    { "weight", ATTR_FLOAT, 0, 0 }, { .name = NULL },
};

// ---- build and gradient -----------------------------------------------------

// Class weights are kernel arguments, which may take 4 KB in all.
static bool check_class_weights(Build *b)
{
    Graph *g = b->g;
    const List *list = b->arg[CLASS_WEIGHTS].list;
    int most = 4000 / dtype_bytes(g->real);
    int64_t classes = g->values[b->operand[1]].classes;
    if (list->count != 0 && list->count != classes) {
        error(g->diag, b->arg[CLASS_WEIGHTS].pos, "class_weights has %d "
              "numbers for %lld classes", list->count, (long long)classes);
        return false;
    }
    if (list->count > most) {
        error(g->diag, b->arg[CLASS_WEIGHTS].pos, "class_weights has %d "
              "numbers, and at most %d can be given", list->count, most);
        return false;
    }
    return true;
}

// True if samples may have different weights.
static bool weighs(const Attr *attr)
{
    return attr[CLASS_WEIGHTS].list != NULL || attr[IGNORE].i >= 0;
}

static Shape shape(const Graph *g, const Node *n)
{
    return n->operand_count > SUMS && n->operands[SUMS] != NONE &&
           weighs(n->attr) ? shape_of_pairs(g, n) : shape_of_rows(g, n);
}

static bool is_plain(const Build *b)
{
    return b->g->values[b->operand[0]].shape.rank == 2 &&
           b->arg[SMOOTHING].f == 0 && b->arg[IGNORE].i == -1 &&
           b->arg[CLASS_WEIGHTS].list->count == 0 && b->arg[WEIGHT].f == 1;
}

// Adds the total weight, which only the gradient reads.
static void add_total(Build *b, ValueId rows)
{
    Graph *g = b->g;
    NodeId n = g->values[rows].def;
    ValueId total = graph_value(g, arena_print(g->arena, "%s.total", b->name),
                                SCALAR, g->real, shape_of(1, (int64_t)1),
                                b->pos);
    g->nodes[n].results[1] = total;
    g->values[total].def = n;
}

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (!build_wants_labels(b) || !check_class_weights(b)) return NONE;
    ValueId operands[] = { b->operand[0], b->operand[1], NONE };
    Shape rows = shape_of(1, g->batch);
    if (is_plain(b)) return build_node(b, 3, operands, NULL, rows);

    const List *weights = b->arg[CLASS_WEIGHTS].list;
    Attr attr[MAX_ATTRS] = {
        [SMOOTHING] = { .f = b->arg[SMOOTHING].f },
        [CLASS_WEIGHTS] = { .list = weights->count > 0 ? weights : NULL },
        [IGNORE] = { .i = b->arg[IGNORE].i },
        [WEIGHT] = { .f = b->arg[WEIGHT].f },
    };
    Deal deal = deal_pixels(g->values[b->operand[0]].shape);
    operands[SUMS] = build_before(
        b, SUM, "sums", g->real,
        shape_of(3, (int64_t)2, deal.splits, deal.batch), attr);
    ValueId result = build_node(
        b, 3, operands, attr, weighs(attr) ? pair_rows_shape(g->batch) : rows);
    if (g->mode == TRAIN) add_total(b, result);
    return result;
}

// With equal weights of samples, the mean over the batch is the mean of the
// samples' means.
static const char *needs_whole_batch(const Graph *g, const Node *n)
{
    return n->operands[SUMS] != NONE && weighs(n->attr) ? needs_total(g, n)
                                                        : NULL;
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    const Node *n = &c->g->nodes[c->node];
    bool plain = n->operands[SUMS] == NONE;
    ValueId header = loss_header(c->g);
    ValueId read[] = { n->operands[0], n->operands[1],
                       plain ? header : n->results[1], header };
    ValueId d = gradient_value(c, 0);
    gradient_node(c, &op_softmax_cross_entropy,
                  plain ? PLAIN_GRAD : WEIGHTED_GRAD, plain ? 3 : 4, read, 1,
                  &d);
    gradient_add(c, 0, d);
}

// ---- the plain case ---------------------------------------------------------

// Maximum, difference, exponential and sum: about five operations per logit,
// and two more for the gradient.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    int64_t count = elements(g->values[n->operands[0]].shape);
    cost->flops = (n->kernel == PLAIN || n->kernel == SUM ? 5 : 7) * count;
    cost->bytes = cost_bytes(g, n);
}

static void plain_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_value(launch_score_rows(g, n, l, "CrossEntropy"), n->results[0]);
}

static void plain_grad_launch(const Graph *g, const Node *n, Launch *l)
{
    Launch *score = launch_score_rows(g, n, l, "CrossEntropyGrad");
    launch_result_type(score, n->results[0]);
    launch_loss_type(n, score);
    launch_value(score, n->results[0]);
    launch_loss_weight(n, score, 1, "weight");
}

static void plain_reference(const Ref *r)
{
    Shape shape = ref_in(r, 0);
    int64_t classes = shape.dim[1];
    for (int64_t n = 0; n < shape.dim[0]; n++) {
        const double *row = r->in[0] + n * classes;
        double largest = largest_of(row, classes), label = r->in[1][n];
        double sum = exp_sum_of(row, classes, largest);
        bool known = label >= 0 && label < (double)classes;
        double loss = known ? log(sum) - (row[(int64_t)label] - largest) : NAN;
        r->out[0][n] = n < r->samples ? loss : 0;
    }
}

static void grad_reference(const Ref *r)
{
    Shape shape = ref_in(r, 0);
    int64_t classes = shape.dim[1];
    double seed = ref_loss_scale(r);
    for (int64_t n = 0; n < shape.dim[0]; n++) {
        const double *row = r->in[0] + n * classes;
        double *d = r->out[0] + n * classes;
        double largest = largest_of(row, classes);
        double sum = exp_sum_of(row, classes, largest);
        for (int64_t o = 0; o < classes; o++) {
            double hot = (double)o == r->in[1][n];
            double change = exp(row[o] - largest) / sum - hot;
            d[o] = n < r->samples ? change * seed / (double)r->samples : 0;
        }
    }
}

// ---- the weighted case ------------------------------------------------------

// Returns the class weights, or one weight for all classes.
static const List *class_weights(const Node *n)
{
    static const double one = 1;
    static const List ones = { 1, &one };
    const List *list = n->attr[CLASS_WEIGHTS].list;
    return list != NULL ? list : &ones;
}

static double class_weight(const Node *n, int64_t o)
{
    const List *list = class_weights(n);
    return list->at[list->count == 1 ? 0 : o];
}

// Adds the constants of the kernels of parts 2 and 3.
static void launch_shape(const Graph *g, const Node *n, Launch *l)
{
    Shape logits = g->values[n->operands[0]].shape;
    Deal deal = deal_pixels(logits);
    launch_deal(l, &deal);
    launch_constant(l, "CLASSES", logits.dim[logits.rank - 1]);
    launch_constant(l, "IGNORE", n->attr[IGNORE].i);
    launch_constant(l, "SMOOTH", n->attr[SMOOTHING].f > 0);
    launch_type_int(l, class_weights(n)->count);
    launch_slots(l, n, 1, 2);
}

// Returns the part of the target that every class gets; the label gets
// 1 - smoothing in addition.
static double spread_of(const Graph *g, const Node *n)
{
    Shape logits = g->values[n->operands[0]].shape;
    return n->attr[SMOOTHING].f / (double)logits.dim[logits.rank - 1];
}

static void sum_launch(const Graph *g, const Node *n, Launch *l)
{
    Deal deal = deal_pixels(g->values[n->operands[0]].shape);
    launch_kernel(l, "cross_entropy_sums", deal.batch * deal.splits,
                  deal.block);
    launch_shape(g, n, l);
    launch_samples(l);
    launch_list(l, class_weights(n), "class_weights");
    launch_real(l, 1 - n->attr[SMOOTHING].f, "hot");
    launch_real(l, spread_of(g, n), "spread");
}

static void weighted_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape sums = g->values[n->operands[SUMS]].shape;
    launch_kernel(l, "cross_entropy_rows", 1, 256);
    launch_type_int(l, is_weighted(g, n->results[0]));
    launch_value(l, n->results[0]);
    launch_value(l, n->results[1]);
    launch_value(l, n->operands[SUMS]);
    launch_samples(l);
    launch_int(l, sums.dim[2], "batch");
    launch_int(l, sums.dim[1], "splits");
    launch_real(l, n->attr[WEIGHT].f, "weight");
    launch_last(l);
}

static void weighted_grad_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape logits = g->values[n->operands[0]].shape;
    Deal deal = deal_pixels(logits);
    int64_t count = deal.batch * deal.items;
    double sum = 0;
    for (int64_t o = 0; o < logits.dim[logits.rank - 1]; o++)
        sum += class_weight(n, o);
    launch_elements(l, "cross_entropy_gradient", count * deal.lanes);
    launch_loss_type(n, l);
    launch_shape(g, n, l);
    launch_value(l, n->operands[TOTAL]);
    launch_samples(l);
    launch_list(l, class_weights(n), "class_weights");
    launch_real(l, 1 - n->attr[SMOOTHING].f, "hot");
    launch_real(l, spread_of(g, n), "spread");
    launch_real(l, spread_of(g, n) * sum, "spread_sum");
    launch_loss_weight(n, l, n->attr[WEIGHT].f, "weight");
}

static void forward_launch(const Graph *g, const Node *n, Launch *l)
{
    (n->operands[SUMS] == NONE ? plain_launch : weighted_launch)(g, n, l);
}

// With partial sums, only these are read.
static void forward_cost(const Graph *g, const Node *n, Cost *c)
{
    if (n->operands[SUMS] == NONE) {
        cost(g, n, c);
        return;
    }
    c->flops = elements(g->values[n->operands[SUMS]].shape);
    c->bytes = value_bytes(&g->values[n->operands[SUMS]]) +
               value_bytes(&g->values[n->results[0]]);
}

// One pixel i of the formula at the top.
typedef struct Pixel {
    const double *row;
    int64_t       classes;
    double        label, largest, log_sum;
    bool          counts;       // in the loss
} Pixel;

static Pixel pixel_of(const Ref *r, int64_t i)
{
    Shape shape = ref_in(r, 0);
    int64_t classes = shape.dim[shape.rank - 1];
    int64_t pixels = elements(shape) / shape.dim[0] / classes;
    Pixel p = { .row = r->in[0] + i * classes, .classes = classes,
                .label = r->in[1][i] };
    p.largest = largest_of(p.row, classes);
    p.log_sum = log(exp_sum_of(p.row, classes, p.largest));
    p.counts = i < r->samples * pixels &&
        (p.label != (double)r->n->attr[IGNORE].i || p.label < 0);
    return p;
}

static double target(const Ref *r, const Pixel *p, int64_t o)
{
    double smoothing = r->n->attr[SMOOTHING].f, w = class_weight(r->n, o);
    return (1 - smoothing) * w * ((double)o == p->label) +
           smoothing / (double)p->classes * w;
}

// The reference stores all of a sample in its first sum.
static void sum_reference(const Ref *r)
{
    Shape sums = ref_out(r, 0);
    int64_t batch = sums.dim[2], splits = sums.dim[1];
    int64_t pixels = elements(ref_in(r, 1)) / batch;
    double *loss = r->out[0], *weight = loss + splits * batch;
    for (int64_t i = 0; i < elements(sums); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < batch * pixels; i++) {
        Pixel p = pixel_of(r, i);
        if (!p.counts) continue;
        bool known = p.label >= 0 && p.label < (double)p.classes;
        weight[i / pixels] += known ? class_weight(r->n, (int64_t)p.label)
                                    : NAN;
        for (int64_t o = 0; o < p.classes; o++)
            loss[i / pixels] -=
                target(r, &p, o) * (p.row[o] - p.largest - p.log_sum);
    }
}

static void forward_reference(const Ref *r)
{
    if (r->in[SUMS] == NULL) {
        plain_reference(r);
        return;
    }
    Shape sums = ref_in(r, SUMS);
    int64_t batch = sums.dim[2], count = sums.dim[1] * batch;
    bool pairs = is_weighted(r->g, r->n->results[0]);
    double total = 0;
    for (int64_t n = 0; n < batch; n++) {
        double sum = 0, weight = 0;
        for (int64_t i = n; i < count; i += batch) {
            sum += r->n->attr[WEIGHT].f * r->in[SUMS][i];
            weight += r->in[SUMS][count + i];
        }
        total += weight;
        if (!pairs) r->out[0][n] = n < r->samples ? sum / weight : 0;
        else r->out[0][2 * n] = sum, r->out[0][2 * n + 1] = weight;
    }
    if (r->out[1] != NULL) r->out[1][0] = total;
}

static void weighted_grad_reference(const Ref *r)
{
    int64_t count = elements(ref_in(r, 1));
    double total = r->in[TOTAL][0];
    double scale = total == 0 ? 0
        : r->n->attr[WEIGHT].f * ref_loss_scale(r) / total;
    for (int64_t i = 0; i < count; i++) {
        Pixel p = pixel_of(r, i);
        double mass = 0, *d = r->out[0] + i * p.classes;
        for (int64_t o = 0; o < p.classes; o++) mass += target(r, &p, o);
        for (int64_t o = 0; o < p.classes; o++) {
            double share = exp(p.row[o] - p.largest - p.log_sum);
            d[o] = p.counts ? scale * (mass * share - target(r, &p, o)) : 0;
        }
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "rows total?", .cost = forward_cost,
      .launch = forward_launch, .reference = forward_reference },
    { .name = "grad", .operands = "logits~ label header?",
      .results = "dlogits^",
      .in_place = "dlogits/logits", .cost = cost, .launch = plain_grad_launch,
      .reference = grad_reference },
    { .name = "sum", .operands = "logits~ label", .results = "sums",
      .cost = cost, .launch = sum_launch, .reference = sum_reference },
    { .name = "wgrad", .operands = "logits~ label total header?",
      .results = "dlogits^",
      .in_place = "dlogits/logits", .cost = cost,
      .launch = weighted_grad_launch, .reference = weighted_grad_reference },
    { .results = NULL },
};

const Op op_softmax_cross_entropy = {
    ROW(softmax_cross_entropy), .applies = &op_softmax,
    .args = args, .attrs = attrs, .build = build,
    .shape = shape, .gradient = gradient,
    .needs_whole_batch = needs_whole_batch, .kernels = kernels,
};
