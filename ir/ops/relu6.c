// relu6: y = x limited to [0, 6]; the gradient is 0 at both ends.
#include "../op/op_row.h"
#include "../families/unary.h"

// NaN stays NaN; -0 becomes 0.
static double relu6(double x)
{
    if (x <= 0) return 0;
    return x > 6 ? 6 : x;
}

static double relu6_gradient(double dy, double y)
{
    bool inside = y > 0 && y < 6;
    return inside || y != y ? dy : 0;
}

const Op op_relu6 = {
    ROW(relu6), .build = build_unary, .gradient = gradient_from_result,
    .act = relu6, .act_gradient = relu6_gradient, .kernels = act_kernels,
};
