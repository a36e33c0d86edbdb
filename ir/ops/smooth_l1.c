// smooth_l1: the distance of two values, quadratic below beta so that the
// derivative is continuous: PyTorch's smooth_l1_loss.  With beta = 0 it is the
// distance everywhere.  PyTorch's huber_loss is delta times this, beta = delta:
// beta and weight are then both delta.
#include <math.h>
#include "../families/loss.h"
#include "../op/op_row.h"
#include "../families/pointwise_loss.h"
#include "../op/op_checks.h"

static const ArgSpec args[] = {
    { "beta", ARG_FLOAT, "1", 0, 1e30, "the distance from which on it is "
      "linear" },
    WEIGHT_ARG, { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "weight", ATTR_FLOAT, 0, 0 }, { "beta", ATTR_FLOAT, 0, 0 },
    { .name = NULL },
};
enum { BETA, WEIGHT };

static ValueId build(Build *b)
{
    Attr attr[] = { [PAIR_WEIGHT] = { .f = b->arg[WEIGHT].f },
                    [PAIR_SETTING] = { .f = b->arg[BETA].f } };
    return build_pair(b, attr);
}

static double smooth_l1(double a, double b, const Attr *setting)
{
    double beta = setting[0].f, apart = fabs(a - b);
    return apart < beta ? apart * apart / (2 * beta) : apart - beta / 2;
}

static double slope(double a, double b, const Attr *setting)
{
    double beta = setting[0].f;
    if (fabs(a - b) < beta) return (a - b) / beta;
    return (a > b) - (a < b) + 0 * (a - b);     // NaN stays NaN
}

static double target_slope(double a, double b, const Attr *setting)
{
    return -slope(a, b, setting);
}

static void smooth_l1_rows(const Ref *r)
{
    pair_reference(r, smooth_l1);
}

static void smooth_l1_partials(const Ref *r)
{
    pair_partial_reference(r, smooth_l1);
}

static void smooth_l1_slopes(const Ref *r)
{
    pair_grad_reference(r, slope, target_slope);
}

static const Kernel kernels[] = {
    PAIR_FORWARD(smooth_l1), PAIR_GRADIENT(smooth_l1), { .results = NULL },
};

const Op op_smooth_l1 = {
    ROW(smooth_l1), .args = args, .attrs = attrs, .build = build,
    .shape = shape_of_rows, .gradient = pair_gradient, .kernels = kernels,
};
