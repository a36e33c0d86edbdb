// softmax: normalizes the exponentials along the last axis to a sum of 1.
//
// The gradient needs only the result: dx = y * (dy - sum of dy * y).
#include <math.h>
#include "../op/op_row.h"
#include "../op/op_checks.h"
#include "../families/softmax_rows.h"
#include "../families/unary.h"

static void launch(const Graph *g, const Node *n, Launch *l)
{
    (void)g;
    launch_softmax_rows(n, l, "softmax_forward");
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    (void)g;
    launch_softmax_rows(n, l, "softmax_gradient");
}

static void of_row(const double *x, int64_t width, double *y)
{
    double largest = largest_of(x, width);
    double sum = exp_sum_of(x, width, largest);
    for (int64_t i = 0; i < width; i++) y[i] = exp(x[i] - largest) / sum;
}

static void reference(const Ref *r)
{
    softmax_rows_reference(r, of_row);
}

// Multiplies by the Jacobian: dy[j]/dx[i] is y[j] * ((i == j) - y[i]).
static void gradient_of_row(const double *dy, const double *y, int64_t width,
                            double *dx)
{
    for (int64_t i = 0; i < width; i++) {
        double sum = 0;
        for (int64_t j = 0; j < width; j++)
            sum += dy[j] * y[j] * ((i == j) - y[i]);
        dx[i] = sum;
    }
}

static void grad_reference(const Ref *r)
{
    softmax_rows_gradient(r, gradient_of_row);
}

static const Kernel kernels[] = {
    SOFTMAX_ROWS_KERNELS(launch, reference, grad_launch, grad_reference)
};

const Op op_softmax = {
    ROW(softmax), .build = build_unary, .gradient = gradient_from_result,
    .kernels = kernels,
};
