// dice: the loss 1 - (2 * sum(p*t) + smooth) / (sum(p) + sum(t) + smooth) for
// each sample, where p is the sigmoid of the logits and t the target.  The two
// sums of a sample are kept for the gradient, as partial sums of blocks:
//
//   %5 sums = dice.sum(logits, target)
//   %6 rows = dice(logits, target, %5)
//   %9 d.logits = dice.grad(logits, target, %5)
#include <math.h>
#include "../families/loss.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { SMOOTH, WEIGHT };
enum { LOGITS, TARGET, SUMS };              // operands
enum { FORWARD_KERNEL, SUM, GRAD };         // kernels

static const ArgSpec args[] = {
    { "smooth", ARG_FLOAT, "1", 0, 1e30, "is added to both sums" },
    WEIGHT_ARG, { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "smooth", ATTR_FLOAT, 0, 0 }, { "weight", ATTR_FLOAT, 0, 0 },
    { .name = NULL },
};

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (!build_wants_pair(b)) return NONE;
    Deal deal = deal_elements(g->values[b->operand[LOGITS]].shape);
    Attr attr[MAX_ATTRS] = { [SMOOTH] = { .f = b->arg[SMOOTH].f },
                             [WEIGHT] = { .f = b->arg[WEIGHT].f } };
    ValueId sums = build_before(
        b, SUM, "sums", g->real,
        shape_of(3, (int64_t)2, deal.splits, deal.batch), attr);
    ValueId operands[] = { b->operand[LOGITS], b->operand[TARGET], sums };
    return build_node(b, 3, operands, attr, shape_of(1, deal.batch));
}

static void gradient(Gradient *c)
{
    const Node *n = &c->g->nodes[c->node];
    ValueId read[] = { n->operands[LOGITS], n->operands[TARGET],
                       n->operands[SUMS], loss_header(c->g) }, d[2];
    for (int k = 0; k < 2; k++)
        d[k] = gradient_wanted(c, k) ? gradient_value(c, k) : NONE;
    if (d[LOGITS] == NONE && d[TARGET] == NONE) return;
    gradient_node(c, &op_dice, GRAD, 4, read, 2, d);
    for (int k = 0; k < 2; k++)
        if (d[k] != NONE) gradient_add(c, k, d[k]);
}

// Counts a sigmoid, and as many operations again.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    bool divides = n->kernel == FORWARD_KERNEL;
    const Value *from = &g->values[n->operands[divides ? SUMS : LOGITS]];
    cost->flops = (divides ? 1 : 8) * elements(from->shape);
    cost->bytes = divides ? value_bytes(from) +
                            value_bytes(&g->values[n->results[0]])
                          : cost_bytes(g, n);
}

// ---- launches ---------------------------------------------------------------

static void launch(const Graph *g, const Node *n, Launch *l)
{
    double weight = n->attr[WEIGHT].f;
    launch_ratio(g, n, l, SUMS, weight, -weight, n->attr[SMOOTH].f);
}

static void sum_launch(const Graph *g, const Node *n, Launch *l)
{
    Deal deal = deal_elements(g->values[n->operands[LOGITS]].shape);
    launch_kernel(l, "dice_sums", deal.batch * deal.splits, deal.block);
    launch_deal(l, &deal);
    launch_slots(l, n, 1, 2);
    launch_samples(l);
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    Deal deal = deal_elements(g->values[n->operands[LOGITS]].shape);
    launch_kernel(l, "dice_gradient", deal.batch * deal.splits, deal.block);
    launch_deal(l, &deal);
    launch_loss_type(n, l);
    launch_slots(l, n, 2, 3);
    launch_samples(l);
    launch_real(l, n->attr[SMOOTH].f, "smooth");
    launch_loss_weight(n, l, n->attr[WEIGHT].f, "weight");
}

// ---- references -------------------------------------------------------------

static double sigmoid_of(double x)
{
    return 1 / (1 + exp(-x));
}

static void reference(const Ref *r)
{
    double weight = r->n->attr[WEIGHT].f;
    ratio_reference(r, SUMS, weight, -weight, r->n->attr[SMOOTH].f);
}

// The reference stores all of a sample in its first sum.
static void sum_reference(const Ref *r)
{
    Shape sums = ref_out(r, 0);
    int64_t batch = sums.dim[2], items = elements(ref_in(r, 0)) / batch;
    double *both = r->out[0], *either = both + sums.dim[1] * batch;
    for (int64_t i = 0; i < elements(sums); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < r->samples * items; i++) {
        double p = sigmoid_of(r->in[LOGITS][i]), t = r->in[TARGET][i];
        both[i / items] += 2 * p * t;
        either[i / items] += p + t;
    }
}

// Applies the quotient rule to the sums of sample n.
static void grad_reference(const Ref *r)
{
    Shape sums = ref_in(r, SUMS);
    int64_t batch = sums.dim[2], items = elements(ref_in(r, 0)) / batch;
    double scale = -r->n->attr[WEIGHT].f * ref_loss_scale(r) /
                   (double)r->samples;
    for (int64_t i = 0; i < batch * items; i++) {
        double a = r->n->attr[SMOOTH].f, b = a;
        for (int64_t s = 0; s < sums.dim[1]; s++) {
            a += r->in[SUMS][s * batch + i / items];
            b += r->in[SUMS][(sums.dim[1] + s) * batch + i / items];
        }
        double p = sigmoid_of(r->in[LOGITS][i]), t = r->in[TARGET][i];
        bool real = i < r->samples * items && b != 0;
        double d[] = { scale * (2 * t * b - a) / (b * b) * p * (1 - p),
                       scale * (2 * p * b - a) / (b * b) };
        for (int k = 0; k < 2; k++)
            if (r->out[k] != NULL) r->out[k][i] = real ? d[k] : 0;
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "rows", .cost = cost, .launch = launch,
      .reference = reference },
    { .name = "sum", .operands = "logits^ target^", .results = "sums",
      .cost = cost, .launch = sum_launch, .reference = sum_reference },
    { .name = "grad", .operands = "logits^ target^ sums header?",
      .results = "dlogits?^ dtarget?^",
      .in_place = "dlogits/logits dlogits/target dtarget/logits dtarget/target",
      .cost = cost, .launch = grad_launch, .reference = grad_reference },
    { .results = NULL },
};

const Op op_dice = {
    ROW(dice), .applies = &op_sigmoid,
    .args = args, .attrs = attrs, .build = build,
    .shape = shape_of_rows, .gradient = gradient, .kernels = kernels,
};
