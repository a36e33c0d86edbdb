// accuracy: a metric, 1 for each sample whose largest score is its label's.
//
// The first of equal scores is the largest.  A row with a NaN and a label out
// of range count as wrong.  Metrics have no gradient.
//
// With labels per pixel, or with an ignored class, rows are pairs: the number
// of correct labels of the sample, and of labels that count.
//
//   %5 sums = accuracy.sum(logits, label)
//   %6 rows = accuracy(logits, label, %5)
#include "../families/loss.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { IGNORE };
enum { LABEL = 1, SUMS };       // operands
enum { SUM = 1 };               // kernel

static const ArgSpec args[] = { IGNORE_ARG, { .name = NULL } };
static const AttrSpec attrs[] = {
    IGNORE_ATTR, { .name = NULL },
};

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (!build_wants_labels(b)) return NONE;
    ValueId operands[] = { b->operand[0], b->operand[LABEL], NONE };
    Shape scores = g->values[operands[0]].shape;
    Attr attr[MAX_ATTRS] = { { .i = b->arg[IGNORE].i } };
    Deal deal = deal_pixels(scores);
    if (scores.rank > 2 || attr[IGNORE].i != NO_LABEL)
        operands[SUMS] = build_before(
            b, SUM, "sums", g->real,
            shape_of(3, (int64_t)2, deal.splits, deal.batch), attr);
    return build_node(b, 3, operands, attr,
                      operands[SUMS] == NONE ? shape_of(1, g->batch)
                                             : pair_rows_shape(g->batch));
}

static Shape shape(const Graph *g, const Node *n)
{
    bool pairs = n->operand_count > SUMS && n->operands[SUMS] != NONE;
    return pairs ? shape_of_pairs(g, n) : shape_of_rows(g, n);
}

// ---- a label a sample -------------------------------------------------------

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    bool divides = n->kernel == 0 && n->operands[SUMS] != NONE;
    const Value *from = &g->values[n->operands[divides ? SUMS : 0]];
    cost->flops = elements(from->shape);
    cost->bytes = divides ? value_bytes(from) +
                            value_bytes(&g->values[n->results[0]])
                          : cost_bytes(g, n);
}

static void row_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_value(launch_score_rows(g, n, l, "Accuracy"), n->results[0]);
}

// True if label is the first maximum; comparisons with a NaN are false.
static bool is_right(const double *row, int64_t classes, double label)
{
    if (!(label >= 0 && label < (double)classes)) return false;
    int64_t want = (int64_t)label;
    for (int64_t o = 0; o < classes; o++)
        if (!(o < want ? row[o] < row[want] : row[o] <= row[want]))
            return false;
    return true;
}

static void row_reference(const Ref *r)
{
    Shape shape = ref_in(r, 0);
    for (int64_t n = 0; n < shape.dim[0]; n++) {
        const double *row = r->in[0] + n * shape.dim[1];
        r->out[0][n] = n < r->samples &&
                       is_right(row, shape.dim[1], r->in[1][n]);
    }
}

// ---- a label a pixel --------------------------------------------------------

static void sum_launch(const Graph *g, const Node *n, Launch *l)
{
    Shape scores = g->values[n->operands[0]].shape;
    Deal deal = deal_pixels(scores);
    launch_kernel(l, "accuracy_sums", deal.batch * deal.splits, deal.block);
    launch_deal(l, &deal);
    launch_constant(l, "CLASSES", scores.dim[scores.rank - 1]);
    launch_constant(l, "IGNORE", n->attr[IGNORE].i);
    launch_slots(l, n, 1, LABEL + 1);
    launch_samples(l);
}

// The reference stores all of a sample in its first sum.
static void sum_reference(const Ref *r)
{
    Shape scores = ref_in(r, 0), sums = ref_out(r, 0);
    int64_t batch = sums.dim[2], splits = sums.dim[1];
    int64_t classes = scores.dim[scores.rank - 1];
    int64_t pixels = elements(ref_in(r, LABEL)) / batch;
    for (int64_t i = 0; i < elements(sums); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < r->samples * pixels; i++) {
        double label = r->in[LABEL][i];
        if (label == (double)r->n->attr[IGNORE].i) continue;
        r->out[0][i / pixels] +=
            is_right(r->in[0] + i * classes, classes, label);
        r->out[0][splits * batch + i / pixels]++;
    }
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    if (n->operands[SUMS] == NONE) row_launch(g, n, l);
    else launch_pairs(g, n, l, SUMS);
}

static void reference(const Ref *r)
{
    if (r->in[SUMS] == NULL) row_reference(r);
    else pairs_reference(r, SUMS);
}

static const Kernel kernels[] = {
    { .name = "", .results = "rows", .cost = cost, .launch = launch,
      .reference = reference },
    { .name = "sum", .operands = "scores~ label", .results = "sums",
      .cost = cost, .launch = sum_launch, .reference = sum_reference },
    { .results = NULL },
};

const Op op_accuracy = {
    ROW(accuracy), .args = args, .attrs = attrs, .build = build,
    .shape = shape, .kernels = kernels,
};
