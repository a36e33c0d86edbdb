// leaky_relu: y = x where x is positive, else slope * x.
//
// The slope is not negative, so the result has the operand's sign and suffices
// for the gradient.
#include "../op/op_row.h"
#include "../families/unary.h"

enum { SLOPE };

static const ArgSpec args[] = {
    { "slope", ARG_FLOAT, "0.01", 0, 1e30, "factor of negative "
      "elements" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "slope", ATTR_FLOAT, 0, 0 }, { .name = NULL },
};

static double leak(const Attr *attr, double x)
{
    return x > 0 ? x : attr[SLOPE].f * x;
}

static double leak_gradient(const Attr *attr, double dy, double y)
{
    return y > 0 ? dy : attr[SLOPE].f * dy;
}

static void reference(const Ref *r)
{
    unary_reference(r, leak);
}

static void grad_reference(const Ref *r)
{
    unary_gradient_reference(r, leak_gradient);
}

static const Kernel kernels[] = {
    UNARY_KERNELS(launch_unary, NULL, reference, grad_reference, "y"),
};

const Op op_leaky_relu = {
    ROW(leaky_relu), .args = args, .attrs = attrs, .build = build_unary,
    .gradient = gradient_from_result, .kernels = kernels,
};
