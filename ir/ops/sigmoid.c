// sigmoid: y = 1 / (1 + exp(-x)).
#include <math.h>
#include "../op/op_row.h"
#include "../families/unary.h"

static double sigmoid(double x)
{
    return 0.5 + 0.5 * tanh(0.5 * x);
}

static double sigmoid_gradient(double dy, double y)
{
    return dy * (y - y * y);
}

const Op op_sigmoid = {
    ROW(sigmoid), .build = build_unary, .gradient = gradient_from_result,
    .act = sigmoid, .act_gradient = sigmoid_gradient, .kernels = act_kernels,
};
