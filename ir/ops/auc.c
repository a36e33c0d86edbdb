// auc: a metric, the area under the curve of true positives over false ones, as
// the threshold of a class's probability falls (ROC).
//
// The probabilities are the softmax of the scores.  They are counted in bins
// between equal thresholds, and the rule is trapezoidal, as in Keras' AUC.  Bin
// b has (b / bins, (b + 1) / bins], and the first has 0 too.
//
// A net of two classes has one curve, on which the second is positive.  More
// classes have a curve each, against all others; the metric is the mean over
// the classes that have positives and negatives (../families/class_counts.h).
//
// A target of a number for each class takes the place of the label if a sample
// may have several classes.  A number of 0.5 and more is a positive.  The
// probabilities are then the sigmoid of the scores, and each class has a curve.
#include <math.h>
#include "../families/class_counts.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { THRESHOLDS, IGNORE };
enum { MOST_THRESHOLDS = 4096 };
enum { COUNT_TARGETS = CLASS_COUNT + 1 };   // a kernel

static const ArgSpec args[] = {
    { "thresholds", ARG_INT, "200", 2, MOST_THRESHOLDS,
      "number of thresholds, 0 and 1 among them" },
    IGNORE_ARG, { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "thresholds", ATTR_INT, 2, MOST_THRESHOLDS }, IGNORE_ATTR,
    { .name = NULL },
};

static bool has_targets(const Graph *g, const ValueId *operands)
{
    return g->values[operands[CLASS_LABEL]].classes == 0;
}

// Returns the number of classes with a curve: of two with a label, one.
static int64_t curves_of(const Graph *g, const ValueId *operands)
{
    int64_t classes = score_classes(g->values[operands[CLASS_LOGITS]].shape);
    return classes == 2 && !has_targets(g, operands) ? 1 : classes;
}

static int64_t bins_of(const Attr *attr)
{
    return attr[THRESHOLDS].i - 1;
}

// Returns the blocks that share the pixels of a batch.
static int64_t runs_of(Shape scores)
{
    enum { LEAST = 2048, MOST = 32 };
    int64_t runs = elements(scores) / score_classes(scores) / LEAST;
    return runs < 1 ? 1 : runs > MOST ? MOST : runs;
}

// Checks targets; an argument for labels is an error.
static bool wants_targets(Build *b)
{
    if (!build_wants_targets(b, "numbers 0 and 1")) return false;
    if (b->arg[IGNORE].i == NO_LABEL) return true;
    error(b->g->diag, b->arg[IGNORE].pos, "ignore is for a label, and the "
          "target is a number for each class");
    return false;
}

static ValueId build(Build *b)
{
    bool soft = has_targets(b->g, b->operand);
    if (!(soft ? wants_targets(b) : build_wants_labels(b))) return NONE;
    Shape scores = b->g->values[b->operand[CLASS_LOGITS]].shape;
    if (!soft && score_classes(scores) < 2) {
        error(b->g->diag, b->operand_pos[CLASS_LOGITS],
              "auc takes scores of at least 2 classes, and this is %s",
              operand_text(b, CLASS_LOGITS));
        return NONE;
    }
    Attr attr[MAX_ATTRS] = {
        [THRESHOLDS] = { .i = b->arg[THRESHOLDS].i },
        [IGNORE] = { .i = b->arg[IGNORE].i },
    };
    return build_class_counts(b, soft ? COUNT_TARGETS : CLASS_COUNT,
                              runs_of(scores), 2 * bins_of(attr),
                              curves_of(b->g, b->operand), attr);
}

// ---- rows -------------------------------------------------------------------

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_class_rows(g, n, l,
                      arena_print(g->arena, "AreaUnderCurve<%lld>",
                                  (long long)bins_of(n->attr)));
}

static void add(const Node *n, int64_t c, const double *count, int64_t classes,
                ClassMean *mean, const void *context)
{
    (void)c, (void)context;
    int64_t bins = bins_of(n->attr);
    double positives = 0, negatives = 0, area = 0;
    for (int64_t b = bins - 1; b >= 0; b--) {
        double is = count[b * classes], is_not = count[(bins + b) * classes];
        area += is_not * (positives + is / 2);
        positives += is;
        negatives += is_not;
    }
    if (positives == 0 || negatives == 0) return;
    mean->sum += area / (positives * negatives);
    mean->weight++;
}

static void reference(const Ref *r)
{
    class_rows_reference(r, add, NULL);
}

// ---- count ------------------------------------------------------------------

static void count_cost(const Graph *g, const Node *n, Cost *cost)
{
    Shape scores = g->values[n->operands[CLASS_LOGITS]].shape;
    bool soft = has_targets(g, n->operands);
    cost->flops = 2 * elements(scores) *
                  (soft ? 1 : curves_of(g, n->operands));
    cost->bytes = cost_bytes(g, n);
}

static void count_launch(const Graph *g, const Node *n, Launch *l)
{
    enum { BLOCK = 256 };
    Shape scores = g->values[n->operands[CLASS_LOGITS]].shape;
    int64_t runs = runs_of(scores), classes = score_classes(scores);
    int64_t pixels = elements(scores) / classes;
    int64_t curves = curves_of(g, n->operands);
    bool soft = has_targets(g, n->operands);
    launch_kernel(l, soft ? "count_target_bins" : "count_bins", runs * curves,
                  BLOCK);
    launch_constant(l, "RUN", ceil_div(pixels, runs));
    launch_constant(l, "ITEMS", pixels / g->batch);
    launch_constant(l, "CLASSES", classes);
    if (!soft) launch_constant(l, "CURVES", curves);
    launch_constant(l, "BINS", bins_of(n->attr));
    if (!soft) launch_constant(l, "IGNORE", n->attr[IGNORE].i);
    launch_slots(l, n, 1, CLASS_LABEL + 1);
    launch_samples(l);
}

// Returns the bin of a probability.
static int64_t bin_of(double probability, int64_t bins)
{
    double bin = ceil(probability * (double)bins) - 1;
    return bin > 0 ? (int64_t)fmin(bin, (double)(bins - 1)) : 0;
}

// Returns the bin of class c's probability.
static int64_t softmax_bin(const double *row, int64_t classes, int64_t c,
                      int64_t bins)
{
    double most = row[0], sum = 0;
    for (int64_t o = 1; o < classes; o++) most = fmax(most, row[o]);
    for (int64_t o = 0; o < classes; o++) sum += exp(row[o] - most);
    return bin_of(exp(row[c] - most) / sum, bins);
}

// The reference counts all pixels in the first run.
static void count_reference(const Ref *r)
{
    int64_t classes = score_classes(ref_in(r, CLASS_LOGITS));
    int64_t curves = curves_of(r->g, r->n->operands);
    int64_t bins = bins_of(r->n->attr);
    int64_t pixels =
        elements(ref_in(r, CLASS_LABEL)) / r->g->batch * r->samples;
    for (int64_t i = 0; i < elements(ref_out(r, 0)); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < pixels * curves; i++) {
        double label = r->in[CLASS_LABEL][i / curves];
        int64_t c = curves == 1 ? 1 : i % curves;
        if (!is_counted_class(label, classes, r->n->attr[IGNORE].i)) continue;
        int64_t bin = softmax_bin(r->in[CLASS_LOGITS] + i / curves * classes,
                                  classes, c, bins);
        if (label != (double)c) bin += bins;
        r->out[0][bin * curves + i % curves]++;
    }
}

// It also counts all pixels in the first run.
static void target_reference(const Ref *r)
{
    int64_t classes = score_classes(ref_in(r, CLASS_LOGITS));
    int64_t bins = bins_of(r->n->attr);
    int64_t count =
        elements(ref_in(r, CLASS_LOGITS)) / r->g->batch * r->samples;
    for (int64_t i = 0; i < elements(ref_out(r, 0)); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t bin = bin_of(1 / (1 + exp(-r->in[CLASS_LOGITS][i])), bins);
        if (!(r->in[CLASS_LABEL][i] >= 0.5)) bin += bins;
        r->out[0][bin * classes + i % classes]++;
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "rows", .cost = class_rows_cost, .launch = launch,
      .reference = reference },
    { .name = "count", .operands = "logits^ label", .results = "partials",
      .cost = count_cost, .launch = count_launch,
      .reference = count_reference },
    { .name = "count_targets", .operands = "logits^ target^",
      .results = "partials", .cost = count_cost, .launch = count_launch,
      .reference = target_reference },
    { .results = NULL },
};

const Op op_auc = {
    ROW(auc), .args = args, .attrs = attrs, .build = build,
    .shape = shape_of_pairs, .kernels = kernels,
};
