// reciprocal: y = 1 / x, also written 1 / x.
#include "../op/op_row.h"
#include "../families/unary.h"

static double reciprocal(double x)
{
    return 1 / x;
}

static double reciprocal_gradient(double dy, double y)
{
    return -dy * y * y;
}

const Op op_reciprocal = {
    ROW(reciprocal), .build = build_unary, .gradient = gradient_from_result,
    .act = reciprocal,
    .act_gradient = reciprocal_gradient, .kernels = act_kernels,
};
