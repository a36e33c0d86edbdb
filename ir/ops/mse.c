// mse: the mean of squared differences, PyTorch's mse_loss.  The target may be
// a value of the net; then it has a gradient too.
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

static double mse(double a, double b, const Attr *setting)
{
    (void)setting;
    return (a - b) * (a - b);
}

static double slope(double a, double b, const Attr *setting)
{
    (void)setting;
    return 2 * (a - b);
}

static double target_slope(double a, double b, const Attr *setting)
{
    (void)setting;
    return -2 * (a - b);
}

static void mse_rows(const Ref *r)
{
    pair_reference(r, mse);
}

static void mse_partials(const Ref *r)
{
    pair_partial_reference(r, mse);
}

static void mse_slopes(const Ref *r)
{
    pair_grad_reference(r, slope, target_slope);
}

static const Kernel kernels[] = {
    PAIR_FORWARD(mse), PAIR_GRADIENT(mse), { .results = NULL },
};

const Op op_mse = {
    ROW(mse), .args = args, .attrs = attrs, .build = build,
    .shape = shape_of_rows, .gradient = pair_gradient, .kernels = kernels,
};
