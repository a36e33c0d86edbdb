// sum_splits: adds the partial sums that blocks of another launch stored, so
// that a long reduction is spread over the GPU in a fixed order.  A weight
// gradient and its bias gradient share one launch:
//
//   %9 partials, %10 bias_partials = conv.wgrad(%7, %1) splits=8
//   %11 d.conv1.weight, %12 d.conv1.bias = sum_splits(%9, %10)
//
// It can also add the sums to momenta (accumulate).
#include "../families/column_reduce.h"
#include "../families/momentum.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

static Shape shape(const Graph *g, const Node *n)
{
    Shape a = g->values[n->operands[0]].shape, sum = { .rank = a.rank - 1 };
    for (int i = 0; i < sum.rank; i++) sum.dim[i] = a.dim[i + 1];
    return sum;
}

static int64_t count_of(const Graph *g, ValueId v)
{
    return v == NONE ? 0 : elements(g->values[v].shape);
}

// Returns the number of sums made from operand k.
static int64_t sum_count(const Graph *g, const Node *n, int k)
{
    ValueId v = n->operands[k];
    return v == NONE ? 0 : count_of(g, v) / g->values[v].shape.dim[0];
}

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = count_of(g, n->operands[0]) + count_of(g, n->operands[1]);
    cost->bytes = cost_bytes(g, n);
    cost_momentum(g, n, cost);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    int64_t count_a = sum_count(g, n, 0), count_b = sum_count(g, n, 1);
    int64_t width = launch_column_sums(l, count_a + count_b);
    launch_gradient_type(n, l);
    Launch *arrays = launch_item(l, accumulates(n) ? "SplitSums<Momentum>"
                                                   : "SplitSums<real *>");
    for (int k = 0; k < 2; k++) launch_gradient(g, n, arrays, k);
    for (int k = 0; k < 2; k++) launch_value(arrays, n->operands[k]);
    launch_int(arrays, count_a, NULL);
    launch_int(arrays, count_b, NULL);
    launch_int(arrays, g->values[n->operands[0]].shape.dim[0], NULL);
    launch_int(arrays, width, NULL);
    launch_last(l);
}

static void reference(const Ref *r)
{
    for (int k = 0; k < 2; k++) {
        double *sums = ref_gradient(r, k);
        int64_t count = sum_count(r->g, r->n, k);
        for (int64_t i = 0; sums != NULL && i < count; i++) {
            double sum = 0;
            for (int64_t s = 0; s < ref_in(r, k).dim[0]; s++)
                sum += r->in[k][s * count + i];
            sums[i] += sum;
        }
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "ya yb?", .with_momentum = 1, .cost = cost,
      .launch = launch, .reference = reference },
    { .name = "momentum",
      .operands = "a b? weight momentum! bias? bias_momentum!? header",
      .results = "", .cost = cost, .launch = launch, .reference = reference },
    { .results = NULL },
};

const Op op_sum_splits = { ROW(sum_splits), .shape = shape,
                           .kernels = kernels };
