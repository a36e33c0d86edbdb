// softplus: y = log(1 + exp(x)), a smooth relu.
//
// The derivative is the logistic function of x, 1 - exp(-y).
#include <math.h>
#include "../op/op_row.h"
#include "../families/unary.h"

static double softplus(double x)
{
    return x != x ? x : fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double softplus_gradient(double dy, double y)
{
    return -dy * expm1(-y);
}

const Op op_softplus = {
    ROW(softplus), .build = build_unary, .gradient = gradient_from_result,
    .act = softplus,
    .act_gradient = softplus_gradient, .kernels = act_kernels,
};
