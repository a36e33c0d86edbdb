// elu: y = x where x is positive, else alpha * (exp(x) - 1) (Clevert et al.
// 2015, arXiv 1511.07289).
//
// alpha is not negative, so the result has the operand's sign.  Below 0, the
// derivative is the result plus alpha.
#include <math.h>
#include "../op/op_row.h"
#include "../families/unary.h"

enum { ALPHA };

static const ArgSpec args[] = {
    { "alpha", ARG_FLOAT, "1", 0, 1e30, "minus the lower limit of the result" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "alpha", ATTR_FLOAT, 0, 0 }, { .name = NULL },
};

static double elu(const Attr *attr, double x)
{
    return x > 0 ? x : attr[ALPHA].f * expm1(x);
}

static double elu_gradient(const Attr *attr, double dy, double y)
{
    return y > 0 ? dy : (y + attr[ALPHA].f) * dy;
}

static void reference(const Ref *r)
{
    unary_reference(r, elu);
}

static void grad_reference(const Ref *r)
{
    unary_gradient_reference(r, elu_gradient);
}

static const Kernel kernels[] = {
    UNARY_KERNELS(launch_unary, NULL, reference, grad_reference, "y"),
};

const Op op_elu = {
    ROW(elu), .args = args, .attrs = attrs, .build = build_unary,
    .gradient = gradient_from_result, .kernels = kernels,
};
