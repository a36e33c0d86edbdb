// mish: y = x * tanh(softplus(x)) (Misra 2019, arXiv 1908.08681).
//
// It is not monotonic, so the gradient needs the operand.
#include <math.h>
#include "../op/op_row.h"
#include "../families/unary.h"

// tanh(log(1 + exp(x)))
static double gate(double x)
{
    return tanh(fmax(x, 0) + log1p(exp(-fabs(x))));
}

static double mish(double x)
{
    return x * gate(x);
}

static double mish_gradient(double dy, double x)
{
    double t = gate(x);
    return dy * (t + x * (1 - t * t) / (1 + exp(-x)));
}

const Op op_mish = {
    ROW(mish), .build = build_unary, .gradient = gradient_from_operand,
    .act = mish,
    .act_gradient = mish_gradient, .kernels = operand_kernels,
};
