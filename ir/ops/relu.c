// relu: y = max(x, 0), the model for an activation's file.
//
// unary.c has the functions that activations share: build, launches, cost.
// This file has the function and its gradient, for the scalar reference, and
// the operator's row.
//
// The gradient needs only the result, so the operand can be freed or
// overwritten, and other operators can fuse it into their epilogue (ACT).
#include "../op/op_row.h"
#include "../families/unary.h"

// NaN stays NaN; -0 becomes 0, so that equal results have equal bits.
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
