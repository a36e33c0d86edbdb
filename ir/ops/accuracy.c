// accuracy: a metric, 1 for each sample whose largest score is its label's.
//
// Of equal scores the first is the largest.  A row with a NaN is wrong, and so
// is a label out of range.  Metrics have no gradient.
#include "../op_row.h"
#include "../rules.h"

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = elements(g->values[n->operands[0]].shape);
    cost->bytes = cost_bytes(g, n);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    enum { BLOCK = 256, ROWS = BLOCK / 32 };    // a warp a row
    Shape logits = g->values[n->operands[0]].shape;
    launch_kernel(l, "accuracy_forward", ceil_div(logits.dim[0], ROWS), BLOCK);
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[0]);
    launch_value(l, n->operands[1]);
    launch_samples(l);
    launch_int(l, logits.dim[0], "batch");
    launch_int(l, logits.dim[1], "classes");
}

// Whether label is the first of the largest; comparisons with a NaN are false.
static bool is_right(const double *row, int64_t classes, double label)
{
    if (!(label >= 0 && label < (double)classes)) return false;
    int64_t want = (int64_t)label;
    for (int64_t o = 0; o < classes; o++)
        if (!(o < want ? row[o] < row[want] : row[o] <= row[want]))
            return false;
    return true;
}

static void reference(const Ref *r)
{
    Shape shape = ref_in(r, 0);
    for (int64_t n = 0; n < shape.dim[0]; n++) {
        const double *row = r->in[0] + n * shape.dim[1];
        r->out[0][n] = n < r->samples &&
                       is_right(row, shape.dim[1], r->in[1][n]);
    }
}

static const Part parts[] = {
    { .name = "", .results = "rows", .cost = cost, .launch = launch,
      .reference = reference },
    { .results = NULL },
};

const Op op_accuracy = {
    ROW(accuracy), .build = build_rows, .shape = shape_of_rows, .parts = parts,
};
