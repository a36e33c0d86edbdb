// swish: y = x / (1 + exp(-x)), also called silu (Op.alias).
//
// It is not monotonic, so the gradient needs the operand.
#include <math.h>
#include "../op/op_row.h"
#include "../families/unary.h"

static double swish(double x)
{
    return x / (1 + exp(-x));
}

static double swish_gradient(double dy, double x)
{
    double c = cosh(x / 2);
    return dy * (1 / (1 + exp(-x)) + x / (4 * c * c));
}

const Op op_swish = {
    ROW(swish), .alias = "silu", .build = build_unary,
    .gradient = gradient_from_operand, .act = swish,
    .act_gradient = swish_gradient, .kernels = operand_kernels,
};
