// log: the natural logarithm; that of a negative number is NaN.
//
// Its functor has another name, since kernels call the function log itself.
#include <math.h>
#include "../op/op_row.h"
#include "../families/unary.h"

static double logarithm_gradient(double dy, double x)
{
    return dy / x;
}

const Op op_log = {
    ROW(log), .build = build_unary, .gradient = gradient_from_operand,
    .functor = "logarithm", .act = log,
    .act_gradient = logarithm_gradient, .kernels = operand_kernels,
};
