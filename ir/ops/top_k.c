// top_k: a metric, 1 for each sample whose label is among the k largest scores.
//
// The first of equal scores is the larger, as in accuracy, which equals top_k
// with k = 1.  A NaN counts as larger than the label's score, and a label out
// of range counts as wrong.  Metrics have no gradient.
//
// With an ignored class, rows are pairs: 1 or 0, and 1 if the sample counts.
#include "../families/loss.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { K, IGNORE };

static const ArgSpec args[] = {
    { "k", ARG_INT, "5", 1, INT32_MAX, "number of scores considered" },
    IGNORE_ARG, { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "k", ATTR_INT, 0, 0 }, IGNORE_ATTR, { .name = NULL },
};

static bool ignores(const Attr *attr)
{
    return attr[IGNORE].i != NO_LABEL;
}

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (!build_wants_scores(b)) return NONE;
    int64_t classes = g->values[b->operand[0]].shape.dim[1];
    if (b->arg[K].i > classes) {
        error(g->diag, b->arg[K].pos, "top_k looks at %lld scores, and there "
              "are %lld", (long long)b->arg[K].i, (long long)classes);
        return NONE;
    }
    Attr attr[] = { { .i = b->arg[K].i }, { .i = b->arg[IGNORE].i } };
    return build_node(b, 2, b->operand, attr,
                      ignores(attr) ? pair_rows_shape(g->batch)
                                    : shape_of(1, g->batch));
}

static Shape shape(const Graph *g, const Node *n)
{
    return ignores(n->attr) ? shape_of_pairs(g, n) : shape_of_rows(g, n);
}

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = elements(g->values[n->operands[0]].shape);
    cost->bytes = cost_bytes(g, n);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    bool pairs = ignores(n->attr);
    Launch *score =
        launch_score_rows(g, n, l, pairs ? "TopKCounted" : "TopK");
    launch_value(score, n->results[0]);
    launch_int(score, n->attr[K].i, "k");
    if (pairs) launch_int(score, n->attr[IGNORE].i, "ignore");
}

// Returns the number of scores before the label's, which includes itself if it
// is a NaN.
static int64_t place_of(const double *row, int64_t classes, int64_t label)
{
    int64_t place = 0;
    for (int64_t o = 0; o < label; o++) place += !(row[o] < row[label]);
    for (int64_t o = label; o < classes; o++) place += !(row[o] <= row[label]);
    return place;
}

static void reference(const Ref *r)
{
    Shape shape = ref_in(r, 0);
    bool pairs = ignores(r->n->attr);
    for (int64_t n = 0; n < shape.dim[0]; n++) {
        double label = r->in[1][n];
        bool known = label >= 0 && label < (double)shape.dim[1];
        bool counts = n < r->samples &&
            (!pairs || label != (double)r->n->attr[IGNORE].i);
        bool found = counts && known &&
            place_of(r->in[0] + n * shape.dim[1], shape.dim[1],
                     (int64_t)label) < r->n->attr[K].i;
        if (!pairs) r->out[0][n] = found;
        else r->out[0][2 * n] = found, r->out[0][2 * n + 1] = counts;
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "rows", .cost = cost, .launch = launch,
      .reference = reference },
    { .results = NULL },
};

const Op op_top_k = {
    ROW(top_k), .args = args, .attrs = attrs, .build = build,
    .shape = shape, .kernels = kernels,
};
