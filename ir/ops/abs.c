// abs: the absolute value; its gradient at 0 is 0.
#include <math.h>
#include "../op/op_row.h"
#include "../families/unary.h"

static double absolute_gradient(double dy, double x)
{
    return x > 0 ? dy : x < 0 ? -dy : x * dy;
}

const Op op_abs = {
    ROW(abs), .build = build_unary, .gradient = gradient_from_operand,
    .functor = "absolute", .act = fabs,
    .act_gradient = absolute_gradient, .kernels = operand_kernels,
};
