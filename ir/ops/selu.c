// selu: an elu whose constants preserve mean and variance through many layers
// (Klambauer et al. 2017, arXiv 1706.02515).
#include <math.h>
#include "../op/op_row.h"
#include "../families/unary.h"

static const double alpha = 1.6732632423543772848170429916717;
static const double factor = 1.0507009873554804934193349852946;

static double selu(double x)
{
    return factor * (x > 0 ? x : alpha * expm1(x));
}

// For negative y, alpha * exp(x) is y / factor + alpha.
static double selu_gradient(double dy, double y)
{
    return y > 0 ? factor * dy : factor * (y / factor + alpha) * dy;
}

const Op op_selu = {
    ROW(selu), .build = build_unary, .gradient = gradient_from_result,
    .act = selu, .act_gradient = selu_gradient, .kernels = act_kernels,
};
