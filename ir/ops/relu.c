// relu: y = max(x, 0), the model of an activation's file.
//
// What it has in common with the others (a call, launches, cost) is in
// unary.c; here stand what it computes and the gradient, as the scalar
// reference has them, beside the operator's row.
//
// The gradient needs the result alone, so the operand can be forgotten or
// overwritten, and other operators can apply it as they store (ACT).
#include "../op/op_row.h"
#include "../families/unary.h"

// A NaN stays one, and -0 becomes 0, so that equals are the same bits.
static double relu(double x)
{
    return x <= 0 ? 0 : x;
}

static double relu_gradient(double dy, double y)
{
    return y <= 0 ? 0 : dy;
}

const Op op_relu = {
    ROW(relu), .build = build_unary, .gradient = gradient_from_result,
    .act = relu, .act_gradient = relu_gradient, .kernels = act_kernels,
};
