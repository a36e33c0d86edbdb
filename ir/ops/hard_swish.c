// hard_swish: y = x * hard_sigmoid(x) (Howard et al. 2019, arXiv 1905.02244).
//
// It is not monotonic, so the gradient needs the operand.
#include "../op/op_row.h"
#include "../families/unary.h"

// NaN stays NaN.
static double hard_swish(const Attr *attr, double x)
{
    (void)attr;
    if (x <= -3) return 0;
    return x >= 3 ? x : x * (x + 3) / 6;
}

static double hard_swish_gradient(const Attr *attr, double dy, double x)
{
    (void)attr;
    if (x < -3) return 0;
    return x > 3 ? dy : dy * (2 * x + 3) / 6;
}

static void reference(const Ref *r)
{
    unary_reference(r, hard_swish);
}

static void grad_reference(const Ref *r)
{
    unary_gradient_reference(r, hard_swish_gradient);
}

static const Kernel kernels[] = {
    UNARY_KERNELS(launch_unary, load_unary, reference, grad_reference, "x"),
};

const Op op_hard_swish = {
    ROW(hard_swish), .build = build_unary, .gradient = gradient_from_operand,
    .kernels = kernels,
};
