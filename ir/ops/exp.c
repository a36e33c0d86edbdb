// exp: the exponential function.
//
// Its functor has another name, since kernels call the function exp itself.
#include <math.h>
#include "../op/op_row.h"
#include "../families/unary.h"

static double exponential_gradient(double dy, double y)
{
    return dy * y;
}

const Op op_exp = {
    ROW(exp), .build = build_unary, .gradient = gradient_from_result,
    .functor = "exponential", .act = exp,
    .act_gradient = exponential_gradient, .kernels = act_kernels,
};
