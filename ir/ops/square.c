// square: y = x * x.
#include "../op/op_row.h"
#include "../families/unary.h"

static double squared(double x)
{
    return x * x;
}

static double squared_gradient(double dy, double x)
{
    return 2 * dy * x;
}

const Op op_square = {
    ROW(square), .build = build_unary, .gradient = gradient_from_operand,
    .functor = "squared", .act = squared,
    .act_gradient = squared_gradient, .kernels = operand_kernels,
};
