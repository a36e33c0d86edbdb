// log_softmax: the logarithm of softmax along the last axis, without its
// underflow.
//
// The gradient needs only the result: dx = dy - exp(y) * sum of dy.
#include <math.h>
#include "../op/op_row.h"
#include "../op/op_checks.h"
#include "../families/softmax_rows.h"
#include "../families/unary.h"

static void launch(const Graph *g, const Node *n, Launch *l)
{
    (void)g;
    launch_softmax_rows(n, l, "log_softmax_forward");
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    (void)g;
    launch_softmax_rows(n, l, "log_softmax_gradient");
}

static void of_row(const double *x, int64_t width, double *y)
{
    double largest = largest_of(x, width);
    double sum = log(exp_sum_of(x, width, largest));
    for (int64_t i = 0; i < width; i++) y[i] = x[i] - largest - sum;
}

static void reference(const Ref *r)
{
    softmax_rows_reference(r, of_row);
}

static void gradient_of_row(const double *dy, const double *y, int64_t width,
                            double *dx)
{
    double sum = 0;
    for (int64_t i = 0; i < width; i++) sum += dy[i];
    for (int64_t i = 0; i < width; i++) dx[i] = dy[i] - exp(y[i]) * sum;
}

static void grad_reference(const Ref *r)
{
    softmax_rows_gradient(r, gradient_of_row);
}

static const Kernel kernels[] = {
    SOFTMAX_ROWS_KERNELS(launch, reference, grad_launch, grad_reference)
};

const Op op_log_softmax = {
    ROW(log_softmax), .build = build_unary, .gradient = gradient_from_result,
    .kernels = kernels,
};
