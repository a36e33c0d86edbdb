// mean_iou: a metric of labels per pixel.  It is the mean, over the classes
// that occur, of the intersection over union of predicted and labelled pixels.
// It is no mean over batches, so the counts are state, from one reset of the
// metrics to the next.
//
// A metric is the sum of its rows over the sum of their weights since the reset
// (tally).  All rows of a batch are equal here, and chosen so that the metric
// is the mean:
//
//   weight = (all - header.weight) / samples
//   row    = (mean * all - header.sum) / samples
//
// Here all = header.samples + samples, or 0 while no class occurs, and the
// header is that before the batch.  The metric of a single step is therefore
// the mean only in the first step after a reset.
//
// A step is known to be skipped only after its rows are made.  Its counts are
// therefore kept separately in the state.  The next step adds them to the
// others, unless the header says that the step was skipped.  A header without
// samples means a reset, after which the state does not count.
//
// In a training step of several batches, the header is unchanged until the
// update.  It has extra slots for the samples and the sum of earlier batches.
// The counts of all of them are the step's.
//
//   %5 partials = mean_iou.count(logits, label)
//   %6 rows = mean_iou(logits, label, %5, %2 mean_iou.counts!, header)
#include "../families/loss.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { IGNORE };
enum { LOGITS, LABEL, PARTIALS, COUNTS, HEADER };   // operands
enum { ROWS_KERNEL, COUNT };                        // kernels
enum { RIGHT, PREDICTED, LABELLED };                // of partials
enum { MOST_CLASSES = 4096 };   // their counts fill 48 KB, a block's limit

static const ArgSpec args[] = { IGNORE_ARG, { .name = NULL } };
static const AttrSpec attrs[] = {
    { "ignore", ATTR_INT, 0, 0 }, { .name = NULL },
};

static int64_t classes_of(Shape scores)
{
    return scores.dim[scores.rank - 1];
}

// The blocks that count: each has a run of the batch's pixels, and each warp
// has its own counts.
typedef struct Counting {
    int64_t pixels, run, blocks;
    int     lanes, warps;
} Counting;

static Counting counting_of(Shape scores)
{
    enum { EACH = 16, BLOCKS = 512 };
    int64_t classes = classes_of(scores);
    Counting c = { .pixels = elements(scores) / classes,
                   .lanes = deal_pixels(scores).lanes, .warps = 8 };
    while (c.warps * classes > MOST_CLASSES) c.warps /= 2;
    int64_t blocks = c.pixels * c.lanes / (EACH * 32 * c.warps);
    if (blocks > BLOCKS) blocks = BLOCKS;
    c.run = ceil_div(c.pixels, blocks > 1 ? blocks : 1);
    c.blocks = ceil_div(c.pixels, c.run);
    return c;
}

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (!build_wants_labels(b)) return NONE;
    Shape scores = g->values[b->operand[LOGITS]].shape;
    int64_t classes = classes_of(scores);
    if (classes > MOST_CLASSES) {
        error(g->diag, b->operand_pos[LOGITS], "mean_iou counts at most %d "
              "classes, and these are %lld", MOST_CLASSES, (long long)classes);
        return NONE;
    }
    Attr attr[MAX_ATTRS] = { { .i = b->arg[IGNORE].i } };
    ValueId operands[] = {
        b->operand[LOGITS], b->operand[LABEL],
        build_before(b, COUNT, "partials", I32,
                     shape_of(3, counting_of(scores).blocks, (int64_t)3,
                              classes), attr),
        build_state(b, "counts", F64,
                    shape_of(3, (int64_t)2, (int64_t)2, classes)),
        g->header,
    };
    return build_node(b, 5, operands, attr, pair_rows_shape(g->batch));
}

// ---- rows -------------------------------------------------------------------

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = elements(g->values[n->operands[PARTIALS]].shape);
    cost->bytes = value_bytes(&g->values[n->operands[PARTIALS]]) +
                  2 * value_bytes(&g->values[n->operands[COUNTS]]);
}

static bool is_partial(const Graph *g)
{
    return is_accumulating(g) && g->mode == TRAIN;
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    Shape partials = g->values[n->operands[PARTIALS]].shape;
    launch_kernel(l,
                  is_partial(g) ? "mean_iou_rows_accumulated" : "mean_iou_rows",
                  1, 256);
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[COUNTS]);
    launch_value(l, n->operands[PARTIALS]);
    launch_header(l);
    launch_samples(l);
    launch_int(l, g->batch, "batch");
    launch_int(l, partials.dim[0], "blocks");
    launch_int(l, partials.dim[2], "classes");
    launch_int(l, figure_of(g, n->results[0]), "figure");
}

// Returns the counts of class c since the reset: correct pixels and the union.
// Operand COUNTS [2, 2, classes] has those of all steps except the last, and
// those of the last.
static void count_class(const Ref *r, int64_t c, double *right, double *either)
{
    Shape partials = ref_in(r, PARTIALS);
    int64_t classes = partials.dim[2];
    double *before = r->in[COUNTS], *last = before + 2 * classes;
    double sum[3] = { 0 };
    for (int64_t i = 0; i < elements(partials); i++)
        if (i % classes == c)
            sum[i / classes % 3] += r->in[PARTIALS][i];

    double now[] = { sum[RIGHT], sum[PREDICTED] + sum[LABELLED] - sum[RIGHT] };
    bool goes_on = is_partial(r->g) && r->header[HEADER_ACCUMULATED] != 0;
    for (int k = 0; k < 2; k++) {
        double *all = &before[k * classes + c];
        if (goes_on) {
            now[k] = (last[k * classes + c] += now[k]) + *all;
            continue;
        }
        if (r->header[HEADER_SKIP] == 0) *all += last[k * classes + c];
        if (r->header[HEADER_SAMPLES] == 0) *all = 0;
        last[k * classes + c] = now[k];
        now[k] += *all;
    }
    *right = now[0];
    *either = now[1];
}

static void reference(const Ref *r)
{
    int64_t classes = ref_in(r, PARTIALS).dim[2], occur = 0;
    double sum = 0, samples = (double)r->samples;
    for (int64_t c = 0; c < classes; c++) {
        double right, either;
        count_class(r, c, &right, &either);
        if (either > 0) sum += right / either, occur++;
    }
    double mean = occur > 0 ? sum / (double)occur : 0;
    double all = r->header[HEADER_SAMPLES] + samples;
    if (is_partial(r->g)) all += r->header[HEADER_ACCUMULATED];
    if (occur == 0) all = 0;
    double row[] = { mean * all, all };
    int figure = 2 * figure_of(r->g, r->n->results[0]);
    for (int k = 0; k < 2; k++) {
        row[k] -= r->header[HEADER_SUM_0 + figure + k];
        if (is_partial(r->g))
            row[k] -= r->header[HEADER_ACCUMULATED_SUM_0 + figure + k];
    }
    for (int64_t i = 0; i < 2 * r->g->batch; i++)
        r->out[0][i] = i < 2 * r->samples ? row[i % 2] / samples : 0;
}

// ---- count ------------------------------------------------------------------

static void count_cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = elements(g->values[n->operands[LOGITS]].shape);
    cost->bytes = cost_bytes(g, n);
}

static void count_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape scores = g->values[n->operands[LOGITS]].shape;
    Counting c = counting_of(scores);
    launch_kernel(l, "mean_iou_count", c.blocks, 32 * c.warps);
    launch_constant(l, "RUN", c.run);
    launch_constant(l, "ITEMS", c.pixels / g->batch);
    launch_constant(l, "CLASSES", classes_of(scores));
    launch_constant(l, "IGNORE", n->attr[IGNORE].i);
    launch_constant(l, "LANES", c.lanes);
    launch_constant(l, "WARPS", c.warps);
    launch_slots(l, n, 1, LABEL + 1);
    launch_samples(l);
}

// Returns the first maximum, which is never a NaN.
static int64_t prediction(const double *row, int64_t classes)
{
    int64_t best = -1;
    for (int64_t o = 0; o < classes; o++)
        if (row[o] == row[o] && (best < 0 || row[o] > row[best])) best = o;
    return best < 0 ? 0 : best;
}

// The reference counts all pixels in the first block.
static void count_reference(const Ref *r)
{
    Shape scores = ref_in(r, LOGITS);
    int64_t classes = classes_of(scores);
    int64_t pixels = elements(ref_in(r, LABEL)) / r->g->batch * r->samples;
    double *counts = r->out[0];
    for (int64_t i = 0; i < elements(ref_out(r, 0)); i++) counts[i] = 0;
    for (int64_t i = 0; i < pixels; i++) {
        double label = r->in[LABEL][i];
        if (!(label >= 0 && label < (double)classes) ||
            label == (double)r->n->attr[IGNORE].i)
            continue;
        int64_t want = (int64_t)label;
        int64_t got = prediction(r->in[LOGITS] + i * classes, classes);
        counts[RIGHT * classes + got] += got == want;
        counts[PREDICTED * classes + got]++;
        counts[LABELLED * classes + want]++;
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "rows", .cost = cost, .launch = launch,
      .reference = reference },
    { .name = "count", .operands = "logits^ label", .results = "partials",
      .cost = count_cost, .launch = count_launch,
      .reference = count_reference },
    { .results = NULL },
};

const Op op_mean_iou = {
    ROW(mean_iou), .args = args, .attrs = attrs, .build = build,
    .shape = shape_of_pairs, .kernels = kernels,
};
