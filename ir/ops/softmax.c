// softmax: normalizes the exponentials along the last axis to a sum of 1.
//
// The gradient needs only the result: dx = y * (dy - sum of dy * y).
#include <math.h>
#include "../op/op_row.h"
#include "../op/op_checks.h"
#include "../families/unary.h"

static int64_t width_of(Shape shape)
{
    return shape.dim[shape.rank - 1];
}

// About five operations per element forward: maximum, difference, exponential,
// sum, quotient; four for the gradient.
static void cost(const Graph *g, const Node *n, Cost *cost)
{
    int64_t count = elements(g->values[n->results[0]].shape);
    cost->flops = (n->kernel == 0 ? 5 : 4) * count;
    cost->bytes = cost_bytes(g, n);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    static const char *const kernel[] = { "softmax_forward",
                                          "softmax_gradient" };
    Shape shape = g->values[n->results[0]].shape;
    int64_t rows = elements(shape) / width_of(shape);
    launch_elements(l, kernel[n->kernel], 32 * rows);   // a warp a row
    launch_slots(l, n, 1, n->operand_count);
    launch_int(l, rows, "rows");
    launch_int(l, width_of(shape), "width");
}

static void reference(const Ref *r)
{
    int64_t count = elements(ref_out(r, 0)), width = width_of(ref_out(r, 0));
    for (int64_t row = 0; row < count; row += width) {
        const double *x = r->in[0] + row;
        double largest = largest_of(x, width);
        double sum = exp_sum_of(x, width, largest);
        for (int64_t i = 0; i < width; i++)
            r->out[0][row + i] = exp(x[i] - largest) / sum;
    }
}

// Multiplies by the Jacobian: dy[j]/dx[i] is y[j] * ((i == j) - y[i]).
static void grad_reference(const Ref *r)
{
    int64_t count = elements(ref_out(r, 0)), width = width_of(ref_out(r, 0));
    for (int64_t row = 0; row < count; row += width) {
        const double *dy = r->in[0] + row, *y = r->in[1] + row;
        for (int64_t i = 0; i < width; i++) {
            double sum = 0;
            for (int64_t j = 0; j < width; j++)
                sum += dy[j] * y[j] * ((i == j) - y[i]);
            r->out[0][row + i] = sum;
        }
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "y^", .in_place = "y/x", .cost = cost,
      .launch = launch, .reference = reference },
    { .name = "grad", .operands = "dy^ y^", .results = "dx^",
      .in_place = "dx/dy dx/y", .cost = cost, .launch = launch,
      .reference = grad_reference },
    { .results = NULL },
};

const Op op_softmax = {
    ROW(softmax), .build = build_unary, .gradient = gradient_from_result,
    .kernels = kernels,
};
