// softmax_cross_entropy: the loss of classification, a number a sample.
//
// The loss of the batch is the mean over its samples (tally), so the gradient
// of a row is (softmax(logits) - onehot(label)) / samples.  Rows past the
// samples that the caller gave have no loss and no gradient.  A label out of
// range is a fault of the data: its row is NaN, and the step is skipped.
#include <math.h>
#include "../op_row.h"
#include "../rules.h"

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    const ValueId *operands = c->g->nodes[c->node].operands;
    ValueId read[] = { operands[0], operands[1] };
    ValueId d = gradient_value(c, 0);
    gradient_node(c, &op_softmax_cross_entropy, 1, 2, read, 1, &d);
    gradient_add(c, 0, d);
}

// A maximum, a difference, an exponential, a sum: about five operations a
// logit, two more for the gradient.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    int64_t count = elements(g->values[n->operands[0]].shape);
    cost->flops = (n->part == 0 ? 5 : 7) * count;
    cost->bytes = cost_bytes(g, n);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    enum { BLOCK = 256, ROWS = BLOCK / 32 };    // a warp a row
    static const char *const kernel[] = { "softmax_cross_entropy_forward",
                                          "softmax_cross_entropy_gradient" };
    Shape logits = g->values[n->operands[0]].shape;
    launch_kernel(l, kernel[n->part], ceil_div(logits.dim[0], ROWS), BLOCK);
    launch_value(l, n->results[0]);
    launch_value(l, n->operands[0]);
    launch_value(l, n->operands[1]);
    launch_samples(l);
    launch_int(l, logits.dim[0], "batch");
    launch_int(l, logits.dim[1], "classes");
}

static double largest_of(const double *row, int64_t classes)
{
    double largest = row[0];
    for (int64_t o = 1; o < classes; o++) largest = fmax(largest, row[o]);
    return largest;
}

static double sum_of(const double *row, int64_t classes, double largest)
{
    double sum = 0;
    for (int64_t o = 0; o < classes; o++) sum += exp(row[o] - largest);
    return sum;
}

static void reference(const Ref *r)
{
    Shape shape = ref_in(r, 0);
    int64_t classes = shape.dim[1];
    for (int64_t n = 0; n < shape.dim[0]; n++) {
        const double *row = r->in[0] + n * classes;
        double largest = largest_of(row, classes), label = r->in[1][n];
        double sum = sum_of(row, classes, largest);
        bool known = label >= 0 && label < (double)classes;
        double loss = known ? log(sum) - (row[(int64_t)label] - largest) : NAN;
        r->out[0][n] = n < r->samples ? loss : 0;
    }
}

static void grad_reference(const Ref *r)
{
    Shape shape = ref_in(r, 0);
    int64_t classes = shape.dim[1];
    for (int64_t n = 0; n < shape.dim[0]; n++) {
        const double *row = r->in[0] + n * classes;
        double *d = r->out[0] + n * classes;
        double largest = largest_of(row, classes);
        double sum = sum_of(row, classes, largest);
        for (int64_t o = 0; o < classes; o++) {
            double hot = (double)o == r->in[1][n];
            double change = exp(row[o] - largest) / sum - hot;
            d[o] = n < r->samples ? change / (double)r->samples : 0;
        }
    }
}

static const Part parts[] = {
    { .name = "", .results = "rows", .cost = cost, .launch = launch,
      .reference = reference },
    { .name = "grad", .operands = "logits label", .results = "dlogits",
      .in_place = "dlogits/logits", .cost = cost, .launch = launch,
      .reference = grad_reference },
    { .results = NULL },
};

const Op op_softmax_cross_entropy = {
    ROW(softmax_cross_entropy), .build = build_rows, .shape = shape_of_rows,
    .gradient = gradient, .parts = parts,
};
