// The mean over a sample's elements of a function of two elements, and its
// gradient.  Rows are means over a sample, so their mean over samples is the
// mean over all elements.
//
// This file depends on no operator: the kernels find the function by the
// operator's name.
#include "column_reduce.h"
#include "loss.h"
#include "pointwise_loss.h"
#include "../op/op_checks.h"

enum { PARTIALS = 2 };          // operand of kernel 0

ValueId build_pair(Build *b, const Attr *attr)
{
    if (!build_wants_pair(b)) return NONE;
    Deal deal = deal_elements(b->g->values[b->operand[0]].shape);
    ValueId operands[] = { b->operand[0], b->operand[1], NONE };
    Attr all[MAX_ATTRS] = { { 0 } };
    for (int k = 0; b->op->attrs[k].name != NULL; k++) all[k] = attr[k];
    if (deal.splits > 1)
        operands[PARTIALS] = build_before(
            b, 1, "partials", b->g->real, shape_of(2, deal.splits, deal.batch),
            all);
    return build_node(b, 3, operands, all, shape_of(1, deal.batch));
}

void pair_gradient(Gradient *c)
{
    const Node *n = &c->g->nodes[c->node];
    const Op *op = n->op;
    ValueId operands[] = { n->operands[0], n->operands[1],
                           loss_header(c->g) }, d[2];
    for (int k = 0; k < 2; k++)
        d[k] = gradient_wanted(c, k) ? gradient_value(c, k) : NONE;
    if (d[0] == NONE && d[1] == NONE) return;
    gradient_node(c, op, 2, 3, operands, 2, d);
    for (int k = 0; k < 2; k++)
        if (d[k] != NONE) gradient_add(c, k, d[k]);
}

// Counts about five operations for each pair.
void pair_cost(const Graph *g, const Node *n, Cost *cost)
{
    bool adds_up = n->kernel == 0 && n->operands[PARTIALS] != NONE;
    const Value *from = &g->values[n->operands[adds_up ? PARTIALS : 0]];
    cost->flops = (adds_up ? 1 : 5) * elements(from->shape);
    cost->bytes = adds_up ? value_bytes(from) +
                            value_bytes(&g->values[n->results[0]])
                          : cost_bytes(g, n);
}

// ---- launches ---------------------------------------------------------------

// Returns the factor of a sum over a sample.
static double factor_of(const Node *n, const Deal *deal)
{
    return n->attr[PAIR_WEIGHT].f / (double)deal->items;
}

static void launch_setting_types(const Node *n, Launch *l)
{
    for (int k = PAIR_SETTING; n->op->attrs[k].name != NULL; k++)
        launch_type(l, "real");
}

static void launch_settings(const Node *n, Launch *l)
{
    for (int k = PAIR_SETTING; n->op->attrs[k].name != NULL; k++)
        launch_real(l, n->attr[k].f, n->op->attrs[k].name);
}

void pair_partial_launch(const Graph *g, const Node *n, Launch *l)
{
    Deal deal = deal_elements(g->values[n->operands[0]].shape);
    launch_kernel(l, "pair_rows", deal.splits * deal.batch, deal.block);
    launch_deal(l, &deal);
    launch_type(l, n->op->name);
    launch_nothing_last(l);
    launch_slots(l, n, 1, 2);
    launch_setting_types(n, l);
    launch_samples(l);
    launch_real(l, factor_of(n, &deal), "factor");
    launch_settings(n, l);
}

void pair_launch(const Graph *g, const Node *n, Launch *l)
{
    if (n->operands[PARTIALS] == NONE) {
        pair_partial_launch(g, n, l);
        return;
    }
    Shape partials = g->values[n->operands[PARTIALS]].shape;
    int64_t width = launch_column_sums(l, partials.dim[1]);
    launch_type(l, "real *");
    Launch *arrays = launch_item(l, "SplitSums<real *>");
    launch_value(arrays, n->results[0]);
    launch_value(arrays, NONE);
    launch_value(arrays, n->operands[PARTIALS]);
    launch_value(arrays, NONE);
    launch_int(arrays, partials.dim[1], NULL);
    launch_int(arrays, 0, NULL);
    launch_int(arrays, partials.dim[0], NULL);
    launch_int(arrays, width, NULL);
    launch_last(l);
}

void pair_grad_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape shape = g->values[n->operands[0]].shape;
    Deal deal = deal_elements(shape);
    launch_elements(l, "pair_slopes", elements(shape));
    launch_type(l, n->op->name);
    launch_loss_type(n, l);
    launch_slots(l, n, 2, 2);
    launch_setting_types(n, l);
    launch_samples(l);
    launch_int(l, elements(shape), "count");
    launch_int(l, deal.items, "width");
    launch_loss_weight(n, l, factor_of(n, &deal), "factor");
    launch_settings(n, l);
}

// ---- references -------------------------------------------------------------

// Returns the mean of sample i, times the weight.
static double mean_of(const Ref *r, PairFunction *f, int64_t i)
{
    Deal deal = deal_elements(ref_in(r, 0));
    const double *a = r->in[0] + i * deal.items, *b = r->in[1] + i * deal.items;
    double sum = 0;
    if (i >= r->samples) return 0;
    for (int64_t j = 0; j < deal.items; j++)
        sum += f(a[j], b[j], r->n->attr + PAIR_SETTING);
    return factor_of(r->n, &deal) * sum;
}

void pair_reference(const Ref *r, PairFunction *f)
{
    int64_t batch = elements(ref_out(r, 0));
    const double *partials = r->in[PARTIALS];
    for (int64_t i = 0; i < batch; i++) {
        r->out[0][i] = partials == NULL ? mean_of(r, f, i) : 0;
        for (int64_t s = 0; partials && s < ref_in(r, PARTIALS).dim[0]; s++)
            r->out[0][i] += partials[s * batch + i];
    }
}

// The reference stores all of a sample in its first partial sum.
void pair_partial_reference(const Ref *r, PairFunction *f)
{
    Shape partials = ref_out(r, 0);
    for (int64_t i = 0; i < elements(partials); i++)
        r->out[0][i] = i < partials.dim[1] ? mean_of(r, f, i) : 0;
}

void pair_grad_reference(const Ref *r, PairFunction *slope_a,
                         PairFunction *slope_b)
{
    PairFunction *slope[] = { slope_a, slope_b };
    Deal deal = deal_elements(ref_in(r, 0));
    double scale = factor_of(r->n, &deal) * ref_loss_scale(r) /
                   (double)r->samples;
    for (int64_t i = 0; i < deal.batch * deal.items; i++) {
        bool real = i < r->samples * deal.items;
        for (int k = 0; k < 2; k++)
            if (r->out[k] != NULL)
                r->out[k][i] = real
                    ? scale * slope[k](r->in[0][i], r->in[1][i],
                                       r->n->attr + PAIR_SETTING) : 0;
    }
}
