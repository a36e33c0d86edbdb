// shift: y = x + value, also written x + 1 or x - 1.
//
// The gradient is dy itself, without a launch.
#include "../op/op_row.h"
#include "../op/op_checks.h"
#include "../families/unary.h"

enum { VALUE };

static const ArgSpec args[] = {
    { "value", ARG_FLOAT, NULL, -1e30, 1e30, "number to add" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "value", ATTR_FLOAT, 0, 0 }, { .name = NULL },
};

static void gradient(Gradient *c)
{
    if (gradient_wanted(c, 0)) gradient_add(c, 0, gradient_of_result(c, 0));
}

static double shift(const Attr *attr, double x)
{
    return x + attr[VALUE].f;
}

static void reference(const Ref *r)
{
    unary_reference(r, shift);
}

static const Kernel kernels[] = {
    { .name = "", .results = "y/", .in_place = "y/x",
      .cost = cost_elementwise, .launch = launch_unary,
      .reference = reference },
    { .results = NULL },
};

const Op op_shift = {
    ROW(shift), .args = args, .attrs = attrs, .build = build_unary,
    .gradient = gradient, .functor = "plus_number", .kernels = kernels,
};
