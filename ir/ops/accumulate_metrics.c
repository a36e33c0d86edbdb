// tally: ends the forward pass: computes the loss and metrics of the batch, and
// updates the header's running sums.
//
// One warp works in a fixed order, in double.  A loss or metric is a pair: a
// sum over the samples that count, and its weight; both are summed over batches
// before the division.  Rows [batch] have weight 1 per sample; rows [batch, 2]
// hold a sum and its weight for each.  The results are the sum of the losses'
// means, the mean of each metric, and, with several losses, the mean of each.
//
// It also checks the loss.  If it is not finite, the header says skip: every
// launch that would change the state returns at once, and the sums stay
// unchanged.  A metric that is not finite is not added to its sums.
//
// With gradient accumulation, only the update changes the header's sums
// (accrue).  Until then tally has separate sums, the results are over all
// batches so far, and one loss that is not finite skips the step.  A scaled
// loss works the same, since a gradient may skip the step.
#include <math.h>
#include "../families/loss.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { LOSSES };

static const AttrSpec attrs[] = {
    { "losses", ATTR_INT, 1, INT32_MAX }, { .name = NULL },
};

// Returns the number of rows operands; the first operand is the header.
static int row_count(const Node *n)
{
    return n->operand_count - 1;
}

// The shape is invalid if the header has no space for the sums.
static Shape shape(const Graph *g, const Node *n)
{
    int64_t rows = row_count(n), losses = n->attr[LOSSES].i;
    if (losses > rows || rows > header_figures(g)) return shape_of(0);
    return shape_of(1, 1 + rows - losses + (losses > 1 ? losses : 0));
}

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = row_count(n) * g->batch;
    cost->bytes = cost_bytes(g, n);
}

static bool is_partial(const Graph *g)
{
    return (is_accumulating(g) || is_scaled(g)) && g->mode == TRAIN;
}

// Returns a mask with a bit for each rows operand that has weights.
static int64_t pairs_of(const Graph *g, const Node *n)
{
    int64_t pairs = 0;
    for (int k = 0; k < row_count(n); k++)
        pairs |= (int64_t)is_weighted(g, n->operands[1 + k]) << k;
    return pairs;
}

static void last(const Graph *g, const Node *n, Launch *l)
{
    launch_struct(l, is_partial(g) ? "PartialMetricSums" : "MetricSums");
    launch_type_int(l, row_count(n));
    launch_type_int(l, n->attr[LOSSES].i);
    launch_type_int(l, pairs_of(g, n));
    launch_header(l);
    launch_value(l, n->results[0]);
    launch_samples(l);
    Launch *rows = launch_members(l, "");
    for (int k = 0; k < row_count(n); k++)
        launch_value(rows, n->operands[1 + k]);
}

// Adds the sums and weights of a batch to `sums` [figures, 2].
static void add_rows(const Ref *r, double *sums)
{
    for (int k = 0; k < row_count(r->n); k++) {
        const double *row = r->in[1 + k];
        bool pairs = is_weighted(r->g, r->n->operands[1 + k]);
        for (int64_t i = 0; i < r->samples; i++) {
            sums[2 * k] += pairs ? row[2 * i] : row[i];
            sums[2 * k + 1] += pairs ? row[2 * i + 1] : 1;
        }
    }
}

// Computes the results from such sums.
static void write_figures(const Ref *r, const double *sums)
{
    int losses = (int)r->n->attr[LOSSES].i, rows = row_count(r->n);
    double *figures = r->out[0];
    figures[0] = 0;
    for (int k = 0; k < rows; k++) {
        double sum = sums[2 * k], weight = sums[2 * k + 1];
        double mean = weight == 0 ? 0 * sum : sum / weight;
        if (k >= losses) figures[1 + k - losses] = mean;
        else figures[0] += mean;
        if (k < losses && losses > 1) figures[1 + rows - losses + k] = mean;
    }
}

static void reference(const Ref *r)
{
    double own[2 * MAX_FIGURES] = { 0 }, *header = r->header;
    bool partial = is_partial(r->g);
    double *sums = partial ? &header[HEADER_ACCUMULATED_SUM_0] : own;
    add_rows(r, sums);
    write_figures(r, sums);
    bool finite = isfinite(r->out[0][0]);
    if (partial) {
        if (!finite) header[HEADER_ACCUMULATED_SKIP] = 1;
        return;
    }
    header[HEADER_SKIP] = !finite;
    if (!finite) return;
    header[HEADER_SAMPLES] += (double)r->samples;
    ref_add_figures(header + HEADER_SUM_0, own, row_count(r->n));
}

static const Kernel kernels[] = {
    { .name = "", .results = "figures", .cost = cost,
      .launch = launch_alone, .last = last, .reference = reference },
    { .results = NULL },
};

const Op op_accumulate_metrics = {
    ROW(accumulate_metrics), .attrs = attrs, .shape = shape, .kernels = kernels,
};
