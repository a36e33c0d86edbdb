// softmax_cross_entropy: the loss of classification, one number per sample.
//
// The loss of the batch is the mean over its samples (tally), so the gradient
// of a row is (softmax(logits) - onehot(label)) / samples.  Rows past the
// caller's samples have no loss and no gradient.  A label out of range is an
// error in the data: its row is NaN, and the step is skipped.
//
// That is the plain case.  With labels per pixel, or with one of the arguments,
// the loss is PyTorch's mean over labels (families/label_mean.h), with
//
//   target[i,o] = (1 - smoothing) * w[y] * (o == y) + smoothing / C * w[o]
//   f = sum over o of target[i,o] * -log(softmax(scores[i])[o])
//
// A target may be a probability of each class instead of a label, of any sum.
// Then o == y is that probability and w[y] is w[o], and each pixel counts 1.
// This target has a gradient too.
//
//   %5 sums = softmax_cross_entropy.sum(logits, label)
//   %6 rows, %7 total = softmax_cross_entropy(logits, label, %5)
//   %9 d.logits = softmax_cross_entropy.wgrad(logits, label, %7)
#include <math.h>
#include "../families/label_mean.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { SMOOTHING, CLASS_WEIGHTS, IGNORE, WEIGHT };  // arguments
enum { PLAIN, PLAIN_GRAD, SUM, WEIGHTED_GRAD, SOFT_SUM, SOFT_GRAD };  // kernels
enum { TARGET_SMOOTHING = LABEL_SETTING };          // attribute
enum { TOTAL = 2 };             // operand of gradients

static const ArgSpec args[] = {
    { "label_smoothing", ARG_FLOAT, "0", 0, 1, "the part of the target that "
      "is spread over all classes" },
    CLASS_WEIGHTS_ARG, IGNORE_ARG, WEIGHT_ARG, { .name = NULL },
};
static const AttrSpec attrs[] = {
    LABEL_MEAN_ATTRS, { "label_smoothing", ATTR_FLOAT, 0, 0 },
    { .name = NULL },
};

// ---- build and gradient -----------------------------------------------------

// True if the target is probabilities, not labels.
static bool is_soft(const Graph *g, const Node *n)
{
    return g->values[n->operands[LABEL]].classes == 0;
}

// Checks a target that is no label; it has the logits' shape.
static bool wants_probabilities(Build *b)
{
    if (!build_wants_targets(b, "probabilities")) return false;
    if (b->arg[IGNORE].i != NO_LABEL) {
        error(b->g->diag, b->arg[IGNORE].pos, "ignore is for a label, and the "
              "target is probabilities; where all of them are 0 the loss is 0");
        return false;
    }
    return true;
}

static bool is_plain(const Build *b)
{
    return b->g->values[b->operand[0]].shape.rank == 2 &&
           b->arg[SMOOTHING].f == 0 && b->arg[IGNORE].i == NO_LABEL &&
           b->arg[CLASS_WEIGHTS].list->count == 0 && b->arg[WEIGHT].f == 1;
}

static ValueId build(Build *b)
{
    const Graph *g = b->g;
    bool soft = g->values[b->operand[LABEL]].classes == 0;
    if (!(soft ? wants_probabilities(b) : build_wants_labels(b))) return NONE;
    Shape logits = g->values[b->operand[0]].shape;
    if (!build_wants_class_weights(b, &b->arg[CLASS_WEIGHTS],
                                   logits.dim[logits.rank - 1]))
        return NONE;
    if (!soft && is_plain(b))
        return build_node(b, 2, b->operand, NULL, shape_of(1, g->batch));
    Attr attr[MAX_ATTRS] = {
        [TARGET_SMOOTHING] = { .f = b->arg[SMOOTHING].f },
    };
    take_label_attrs(b, CLASS_WEIGHTS, IGNORE, WEIGHT, attr);
    return build_label_mean(b, soft ? SOFT_SUM : SUM, attr);
}

static void soft_gradient(Gradient *c)
{
    ValueId total = label_mean_total(c->g, c->node);
    const Node *n = &c->g->nodes[c->node];
    ValueId d[2], read[] = { n->operands[0], n->operands[LABEL], total,
                             loss_header(c->g) };
    for (int k = 0; k < 2; k++)
        d[k] = gradient_wanted(c, k) ? gradient_value(c, k) : NONE;
    if (d[0] == NONE && d[1] == NONE) return;
    gradient_node(c, &op_softmax_cross_entropy, SOFT_GRAD, 4, read, 2, d);
    for (int k = 0; k < 2; k++)
        if (d[k] != NONE) gradient_add(c, k, d[k]);
}

static void gradient(Gradient *c)
{
    const Node *n = &c->g->nodes[c->node];
    if (is_soft(c->g, n)) {
        soft_gradient(c);
        return;
    }
    if (!gradient_wanted(c, 0)) return;
    bool plain = n->operands[LABEL_SUMS] == NONE;
    ValueId header = loss_header(c->g);
    ValueId read[] = { n->operands[0], n->operands[LABEL],
                       plain ? header : label_mean_total(c->g, c->node),
                       header };
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
    bool forward = n->kernel == PLAIN || n->kernel == SUM ||
                   n->kernel == SOFT_SUM;
    cost->flops = (forward ? 5 : 7) * count;
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

// Adds the constants of the kernels of sums and gradients, and first slots.
static void launch_shape(const Graph *g, const Node *n, Launch *l, int results)
{
    Shape logits = g->values[n->operands[0]].shape;
    Deal deal = deal_pixels(logits);
    launch_deal(l, &deal);
    launch_constant(l, "CLASSES", logits.dim[logits.rank - 1]);
    if (!is_soft(g, n)) launch_constant(l, "IGNORE", n->attr[LABEL_IGNORE].i);
    launch_constant(l, "SMOOTH", n->attr[TARGET_SMOOTHING].f > 0);
    launch_type_int(l, class_weights_of(n)->count);
    launch_slots(l, n, results, 2);
}

// Returns the part of the target that every class gets; the label gets
// 1 - smoothing in addition.
static double spread_of(const Graph *g, const Node *n)
{
    Shape logits = g->values[n->operands[0]].shape;
    return n->attr[TARGET_SMOOTHING].f / (double)logits.dim[logits.rank - 1];
}

static void sum_launch(const Graph *g, const Node *n, Launch *l)
{
    Deal deal = deal_pixels(g->values[n->operands[0]].shape);
    launch_kernel(l, is_soft(g, n) ? "soft_cross_entropy_sums"
                                   : "cross_entropy_sums",
                  deal.batch * deal.splits, deal.block);
    launch_shape(g, n, l, 1);
    launch_samples(l);
    launch_list(l, class_weights_of(n), "class_weights");
    launch_real(l, 1 - n->attr[TARGET_SMOOTHING].f, "hot");
    launch_real(l, spread_of(g, n), "spread");
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
    launch_shape(g, n, l, 1);
    launch_value(l, n->operands[TOTAL]);
    launch_samples(l);
    launch_list(l, class_weights_of(n), "class_weights");
    launch_real(l, 1 - n->attr[TARGET_SMOOTHING].f, "hot");
    launch_real(l, spread_of(g, n), "spread");
    launch_real(l, spread_of(g, n) * sum, "spread_sum");
    launch_loss_weight(n, l, n->attr[LABEL_WEIGHT].f, "weight");
}

static void soft_grad_launch(const Graph *g, const Node *n, Launch *l)
{
    Deal deal = deal_pixels(g->values[n->operands[0]].shape);
    launch_elements(l, "soft_cross_entropy_gradient",
                    deal.batch * deal.items * deal.lanes);
    launch_loss_type(n, l);
    launch_shape(g, n, l, 2);
    launch_value(l, n->operands[TOTAL]);
    launch_samples(l);
    launch_list(l, class_weights_of(n), "class_weights");
    launch_real(l, 1 - n->attr[TARGET_SMOOTHING].f, "hot");
    launch_real(l, spread_of(g, n), "spread");
    launch_loss_weight(n, l, n->attr[LABEL_WEIGHT].f, "weight");
}

static void forward_launch(const Graph *g, const Node *n, Launch *l)
{
    (n->operands[LABEL_SUMS] == NONE ? plain_launch : label_mean_launch)(g, n,
                                                                         l);
}

static void forward_cost(const Graph *g, const Node *n, Cost *c)
{
    (n->operands[LABEL_SUMS] == NONE ? cost : label_mean_cost)(g, n, c);
}

// One pixel i of the formula at the top.
typedef struct Pixel {
    const double *row;
    int64_t       classes;
    const double *soft;         // its probabilities; NULL: it has a label
    double        label, largest, log_sum;
    bool          counts;       // in the loss
} Pixel;

// Returns the number of pixels of a sample.
static int64_t pixels_of(Shape logits)
{
    return elements(logits) / logits.dim[0] / logits.dim[logits.rank - 1];
}

static Pixel pixel_of(const Ref *r, int64_t i)
{
    Shape shape = ref_in(r, 0);
    int64_t classes = shape.dim[shape.rank - 1];
    int64_t pixels = pixels_of(shape);
    Pixel p = { .row = r->in[0] + i * classes, .classes = classes };
    if (is_soft(r->g, r->n)) p.soft = r->in[LABEL] + i * classes;
    else p.label = r->in[LABEL][i];
    p.largest = largest_of(p.row, classes);
    p.log_sum = log(exp_sum_of(p.row, classes, p.largest));
    p.counts = p.soft != NULL ? i < r->samples * pixels
                              : label_counts(r, p.label, i / pixels);
    return p;
}

static double target(const Ref *r, const Pixel *p, int64_t o)
{
    double smoothing = r->n->attr[TARGET_SMOOTHING].f;
    double w = class_weight(r->n, o);
    double hot = p->soft != NULL ? p->soft[o] : (double)o == p->label;
    return (1 - smoothing) * w * hot + smoothing / (double)p->classes * w;
}

// Returns a pixel's weight in the mean; NaN for a label out of range.
static double weight_of(const Ref *r, const Pixel *p)
{
    if (p->soft != NULL) return 1;
    return p->label >= 0 && p->label < (double)p->classes
        ? class_weight(r->n, (int64_t)p->label) : NAN;
}

// The reference stores all of a sample in its first sum.
static void sum_reference(const Ref *r)
{
    Shape sums = ref_out(r, 0);
    int64_t batch = sums.dim[2], splits = sums.dim[1];
    int64_t pixels = pixels_of(ref_in(r, 0));
    double *loss = r->out[0], *weight = loss + splits * batch;
    for (int64_t i = 0; i < elements(sums); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < batch * pixels; i++) {
        Pixel p = pixel_of(r, i);
        if (!p.counts) continue;
        weight[i / pixels] += weight_of(r, &p);
        for (int64_t o = 0; o < p.classes; o++)
            loss[i / pixels] -=
                target(r, &p, o) * (p.row[o] - p.largest - p.log_sum);
    }
}

static void forward_reference(const Ref *r)
{
    (r->in[LABEL_SUMS] == NULL ? plain_reference : label_mean_reference)(r);
}

static void weighted_grad_reference(const Ref *r)
{
    int64_t count = ref_in(r, 0).dim[0] * pixels_of(ref_in(r, 0));
    double scale = label_mean_scale(r, r->in[TOTAL][0]);
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

// The gradient of a probability is that of its share of the target.
static void soft_grad_reference(const Ref *r)
{
    int64_t count = ref_in(r, 0).dim[0] * pixels_of(ref_in(r, 0));
    double scale = label_mean_scale(r, r->in[TOTAL][0]);
    double hot = 1 - r->n->attr[TARGET_SMOOTHING].f;
    for (int64_t i = 0; i < count && r->out[1] != NULL; i++) {
        Pixel p = pixel_of(r, i);
        for (int64_t o = 0; o < p.classes; o++)
            r->out[1][i * p.classes + o] = p.counts
                ? -scale * hot * class_weight(r->n, o) *
                  (p.row[o] - p.largest - p.log_sum) : 0;
    }
    if (r->out[0] != NULL) weighted_grad_reference(r);
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
    { .name = "soft_sum", .operands = "logits~ target~", .results = "sums",
      .cost = cost, .launch = sum_launch, .reference = sum_reference },
    { .name = "soft_grad", .operands = "logits~ target~ total header?",
      .results = "dlogits?^ dtarget?^",
      .in_place = "dlogits/logits dlogits/target dtarget/logits dtarget/target",
      .cost = cost, .launch = soft_grad_launch,
      .reference = soft_grad_reference },
    { .results = NULL },
};

const Op op_softmax_cross_entropy = {
    ROW(softmax_cross_entropy), .applies = &op_softmax,
    .args = args, .attrs = attrs, .build = build,
    .shape = shape_of_label_mean, .gradient = gradient,
    .needs_whole_batch = label_mean_needs_total, .kernels = kernels,
};
