// swish: y = x / (1 + exp(-x)), also called silu (Op.alias).
//
// It is not monotonic, so the gradient needs the operand.
#include <math.h>
#include "../op/op_row.h"
#include "../families/unary.h"

static double swish(const Attr *attr, double x)
{
    (void)attr;
    return x / (1 + exp(-x));
}

static double swish_gradient(const Attr *attr, double dy, double x)
{
    (void)attr;
    double c = cosh(x / 2);
    return dy * (1 / (1 + exp(-x)) + x / (4 * c * c));
}

static void reference(const Ref *r)
{
    unary_reference(r, swish);
}

static void grad_reference(const Ref *r)
{
    unary_gradient_reference(r, swish_gradient);
}

static const Kernel kernels[] = {
    UNARY_KERNELS(launch_unary, load_unary, reference, grad_reference, "x"),
};

const Op op_swish = {
    ROW(swish), .alias = "silu", .build = build_unary,
    .gradient = gradient_from_operand, .kernels = kernels,
};
