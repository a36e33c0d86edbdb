// hard_sigmoid: a piecewise linear approximation of the sigmoid.
#include "../op/op_row.h"
#include "../families/unary.h"

// NaN stays NaN.
static double hard_sigmoid(double x)
{
    if (x <= -3) return 0;
    return x >= 3 ? 1 : x / 6 + 0.5;
}

static double hard_sigmoid_gradient(double dy, double y)
{
    return y <= 0 || y >= 1 ? 0 : dy / 6;
}

const Op op_hard_sigmoid = {
    ROW(hard_sigmoid), .build = build_unary, .gradient = gradient_from_result,
    .act = hard_sigmoid, .act_gradient = hard_sigmoid_gradient,
    .kernels = act_kernels,
};
