// nll: the negative log-likelihood of labels, whose scores are logarithms of
// probabilities: PyTorch's NLLLoss.  After log_softmax it is
// softmax_cross_entropy.  It takes a label a sample or a pixel.
//
// It is the mean over labels of -scores[i,y] (families/label_mean.h).
#include <math.h>
#include "../families/label_mean.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { CLASS_WEIGHTS, IGNORE, WEIGHT };     // arguments
enum { ROWS_KERNEL, SUM, GRAD };            // kernels
enum { GRAD_LABEL, TOTAL };                 // operands of GRAD

static const ArgSpec args[] = {
    CLASS_WEIGHTS_ARG, IGNORE_ARG, WEIGHT_ARG, { .name = NULL },
};
static const AttrSpec attrs[] = { LABEL_MEAN_ATTRS, { .name = NULL } };

static ValueId build(Build *b)
{
    Attr attr[MAX_ATTRS] = { { 0 } };
    if (!build_wants_labels(b) ||
        !build_wants_class_weights(b, &b->arg[CLASS_WEIGHTS],
                                   b->g->values[b->operand[LABEL]].classes))
        return NONE;
    take_label_attrs(b, CLASS_WEIGHTS, IGNORE, WEIGHT, attr);
    return build_label_mean(b, SUM, attr);
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    const Node *n = &c->g->nodes[c->node];
    ValueId read[] = { n->operands[LABEL], label_mean_total(c->g, c->node),
                       loss_header(c->g) };
    ValueId d = gradient_value(c, 0);
    gradient_node(c, &op_nll, GRAD, 3, read, 1, &d);
    gradient_add(c, 0, d);
}

// One of each row of scores is read.
static void sum_cost(const Graph *g, const Node *n, Cost *cost)
{
    const Value *label = &g->values[n->operands[LABEL]];
    cost->flops = 3 * elements(label->shape);
    cost->bytes = 2 * value_bytes(label) +
                  value_bytes(&g->values[n->results[0]]);
}

static void grad_cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = elements(g->values[n->results[0]].shape);
    cost->bytes = cost_bytes(g, n);
}

// Adds the constants of both kernels.
static void launch_constants(const Node *n, Launch *l, const Deal *deal,
                             int64_t classes)
{
    launch_deal(l, deal);
    launch_constant(l, "CLASSES", classes);
    launch_constant(l, "IGNORE", n->attr[LABEL_IGNORE].i);
}

static int64_t last_of(Shape shape)
{
    return shape.dim[shape.rank - 1];
}

static void sum_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape scores = g->values[n->operands[0]].shape;
    Deal deal = deal_pixels(scores);
    launch_kernel(l, "nll_sums", deal.batch * deal.splits, deal.block);
    launch_constants(n, l, &deal, last_of(scores));
    launch_type_int(l, class_weights_of(n)->count);
    launch_slots(l, n, 1, 2);
    launch_samples(l);
    launch_list(l, class_weights_of(n), "class_weights");
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape scores = g->values[n->results[0]].shape;
    Deal deal = deal_pixels(scores);
    launch_elements(l, "nll_gradient", elements(scores));
    launch_constants(n, l, &deal, last_of(scores));
    launch_loss_type(n, l);
    launch_type_int(l, class_weights_of(n)->count);
    launch_slots(l, n, 1, 2);
    launch_samples(l);
    launch_list(l, class_weights_of(n), "class_weights");
    launch_loss_weight(n, l, n->attr[LABEL_WEIGHT].f, "weight");
}

// The reference stores all of a sample in its first sum.
static void sum_reference(const Ref *r)
{
    Shape sums = ref_out(r, 0);
    int64_t batch = sums.dim[2], splits = sums.dim[1];
    int64_t classes = last_of(ref_in(r, 0));
    int64_t each = elements(ref_in(r, LABEL)) / batch;
    double *loss = r->out[0], *weight = loss + splits * batch;
    for (int64_t i = 0; i < elements(sums); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < batch * each; i++) {
        double label = r->in[LABEL][i];
        if (!label_counts(r, label, i / each)) continue;
        bool known = label >= 0 && label < (double)classes;
        double w = known ? class_weight(r->n, (int64_t)label) : NAN;
        weight[i / each] += w;
        if (known)
            loss[i / each] -= w * r->in[0][i * classes + (int64_t)label];
    }
}

static void grad_reference(const Ref *r)
{
    Shape scores = ref_out(r, 0);
    int64_t classes = last_of(scores);
    int64_t each = elements(scores) / scores.dim[0] / classes;
    double scale = label_mean_scale(r, r->in[TOTAL][0]);
    for (int64_t i = 0; i < elements(scores); i++) {
        double label = r->in[GRAD_LABEL][i / classes];
        bool counts = label == (double)(i % classes) &&
                      label_counts(r, label, i / classes / each);
        r->out[0][i] = counts ? -scale * class_weight(r->n, i % classes) : 0;
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "rows total?", .cost = label_mean_cost,
      .launch = label_mean_launch, .reference = label_mean_reference },
    { .name = "sum", .operands = "scores~ label", .results = "sums",
      .cost = sum_cost, .launch = sum_launch, .reference = sum_reference },
    { .name = "grad", .operands = "label total header?", .results = "dscores^",
      .cost = grad_cost, .launch = grad_launch, .reference = grad_reference },
    { .results = NULL },
};

const Op op_nll = {
    ROW(nll), .args = args, .attrs = attrs, .build = build,
    .shape = shape_of_label_mean, .gradient = gradient,
    .needs_whole_batch = label_mean_needs_total, .kernels = kernels,
};
