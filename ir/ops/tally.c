// tally: the end of the forward pass: the loss and the metrics of the batch,
// and the header's running sums of them.
//
// One warp in a fixed order, in double.  It also judges the loss: where that
// is not finite the header says skip, every launch that would change the state
// returns at once, and the sums stay what they were.  The first `losses` rows
// are added up to the loss; each row after them is a metric.
//
// Where gradients are summed over several batches the header's sums are for the
// update to change (accrue): until then it keeps sums of its own, the figures
// are those of all batches so far, and one loss that is not finite is enough.
// So it is where the loss is scaled, of which a gradient may skip the step.
#include <math.h>
#include "../op_row.h"
#include "../rules.h"

enum { LOSSES };

static const AttrSpec attrs[] = {
    { "losses", ATTR_INT, 1, INT32_MAX }, { .name = NULL },
};

// Of the operands the first is the header.
static int row_count(const Node *n)
{
    return n->operand_count - 1;
}

static Shape shape(const Graph *g, const Node *n)
{
    (void)g;
    return shape_of(1, 1 + row_count(n) - n->attr[LOSSES].i);
}

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = row_count(n) * g->batch;
    cost->bytes = cost_bytes(g, n);
}

static bool is_partial(const Graph *g)
{
    return (is_accruing(g) || is_scaled(g)) && g->mode == TRAIN;
}

static void last(const Graph *g, const Node *n, Launch *l)
{
    launch_struct(l, is_partial(g) ? "TallyAccrued" : "Tally");
    launch_type_int(l, row_count(n));
    launch_type_int(l, n->attr[LOSSES].i);
    launch_header(l);
    launch_value(l, n->results[0]);
    launch_samples(l);
    Launch *rows = launch_members(l, "FigureRows");
    launch_type_int(rows, row_count(n));
    for (int k = 0; k < row_count(n); k++)
        launch_value(rows, n->operands[1 + k]);
}

static double sum_of(const double *row, int64_t samples)
{
    double sum = 0;
    for (int64_t i = 0; i < samples; i++) sum += row[i];
    return sum;
}

static void add_rows(const Ref *r, double sums[MAX_FIGURES])
{
    int losses = (int)r->n->attr[LOSSES].i;
    for (int k = 0; k < row_count(r->n); k++)
        sums[k < losses ? 0 : k - losses + 1] +=
            sum_of(r->in[1 + k], r->samples);
}

static void partial_reference(const Ref *r)
{
    double *sums = &r->header[HEADER_ACCRUED_SUM_0], own[MAX_FIGURES] = { 0 };
    double samples = r->header[HEADER_ACCRUED] + (double)r->samples;
    add_rows(r, own);
    if (!isfinite(own[0])) r->header[HEADER_ACCRUED_SKIP] = 1;
    for (int j = 0; j <= row_count(r->n) - (int)r->n->attr[LOSSES].i; j++) {
        sums[j] += own[j];
        r->out[0][j] = sums[j] / samples;
    }
}

static void reference(const Ref *r)
{
    int losses = (int)r->n->attr[LOSSES].i;
    double sums[MAX_FIGURES] = { 0 }, samples = (double)r->samples;
    if (is_partial(r->g)) {
        partial_reference(r);
        return;
    }
    add_rows(r, sums);

    bool finite = isfinite(sums[0] / samples);
    r->header[HEADER_SKIP] = !finite;
    if (finite) r->header[HEADER_SAMPLES] += samples;
    for (int j = 0; j <= row_count(r->n) - losses; j++) {
        r->out[0][j] = sums[j] / samples;
        if (finite) r->header[HEADER_SUM_0 + j] += sums[j];
    }
}

static const Part parts[] = {
    { .name = "", .results = "figures", .cost = cost,
      .launch = launch_alone, .last = last, .reference = reference },
    { .results = NULL },
};

const Op op_tally = {
    ROW(tally), .attrs = attrs, .shape = shape, .parts = parts,
};
