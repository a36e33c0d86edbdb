// mean_absolute_error: the mean of |a - b|, PyTorch's l1_loss.  The slope at
// a = b is 0.  The target may be a value of the net; then it has a gradient
// too.
#include <math.h>
#include "../families/loss.h"
#include "../op/op_row.h"
#include "../families/pointwise_loss.h"
#include "../op/op_checks.h"

static const ArgSpec args[] = { WEIGHT_ARG, { .name = NULL } };
static const AttrSpec attrs[] = {
    { "weight", ATTR_FLOAT, 0, 0 }, { .name = NULL },
};
enum { WEIGHT };

static ValueId build(Build *b)
{
    Attr attr[] = { { .f = b->arg[WEIGHT].f } };
    return build_pair(b, attr);
}

static double mean_absolute_error(double a, double b, const Attr *setting)
{
    (void)setting;
    return fabs(a - b);
}

static double slope(double a, double b, const Attr *setting)
{
    (void)setting;
    return (a > b) - (a < b) + 0 * (a - b);     // NaN stays NaN
}

static double target_slope(double a, double b, const Attr *setting)
{
    return slope(b, a, setting);
}

static void mean_absolute_error_rows(const Ref *r)
{
    pair_reference(r, mean_absolute_error);
}

static void mean_absolute_error_partials(const Ref *r)
{
    pair_partial_reference(r, mean_absolute_error);
}

static void mean_absolute_error_slopes(const Ref *r)
{
    pair_grad_reference(r, slope, target_slope);
}

static const Kernel kernels[] = {
    PAIR_FORWARD(mean_absolute_error), PAIR_GRADIENT(mean_absolute_error),
    { .results = NULL },
};

const Op op_mean_absolute_error = {
    ROW(mean_absolute_error), .args = args, .attrs = attrs, .build = build,
    .shape = shape_of_rows, .gradient = pair_gradient, .kernels = kernels,
};
