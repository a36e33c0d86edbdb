// sqrt: the square root; that of a negative number is NaN.
//
// The gradient at 0 is infinite.  The functor has another name, since kernels
// call the function sqrt itself.
#include <math.h>
#include "../op/op_row.h"
#include "../families/unary.h"

static double square_root_gradient(double dy, double y)
{
    return dy / (2 * y);
}

const Op op_sqrt = {
    ROW(sqrt), .build = build_unary, .gradient = gradient_from_result,
    .functor = "square_root", .act = sqrt,
    .act_gradient = square_root_gradient, .kernels = act_kernels,
};
