// tanh: the hyperbolic tangent.
//
// Its functor has another name, since kernels call the function tanh itself.
#include <math.h>
#include "../op/op_row.h"
#include "../families/unary.h"

static double tangent_gradient(double dy, double y)
{
    return dy * (1 - y * y);
}

const Op op_tanh = {
    ROW(tanh), .build = build_unary, .gradient = gradient_from_result,
    .functor = "hyperbolic_tangent", .act = tanh,
    .act_gradient = tangent_gradient, .kernels = act_kernels,
};
