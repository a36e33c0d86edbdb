// binary_cross_entropy: the loss of independent binary classes, from logits, as
// PyTorch's binary_cross_entropy_with_logits: -t*log(p) - (1-t)*log(1-p), where
// p is the sigmoid of the logit and t, the target, is in [0, 1].
//
// It is computed as max(x, 0) - x*t + log(1 + exp(-|x|)), which can't overflow.
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

// Returns log(1 + exp(x)).
static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double binary_cross_entropy(double x, double t, const Attr *setting)
{
    (void)setting;
    return t * softplus(-x) + (1 - t) * softplus(x);
}

static double slope(double x, double t, const Attr *setting)
{
    (void)setting;
    return 1 / (1 + exp(-x)) - t;
}

static double target_slope(double x, double t, const Attr *setting)
{
    (void)t, (void)setting;
    return -x;
}

static void binary_cross_entropy_rows(const Ref *r)
{
    pair_reference(r, binary_cross_entropy);
}

static void binary_cross_entropy_partials(const Ref *r)
{
    pair_partial_reference(r, binary_cross_entropy);
}

static void binary_cross_entropy_slopes(const Ref *r)
{
    pair_grad_reference(r, slope, target_slope);
}

static const Kernel kernels[] = {
    PAIR_FORWARD(binary_cross_entropy), PAIR_GRADIENT(binary_cross_entropy),
    { .results = NULL },
};

const Op op_binary_cross_entropy = {
    ROW(binary_cross_entropy), .applies = &op_sigmoid,
    .args = args, .attrs = attrs, .build = build,
    .shape = shape_of_rows, .gradient = pair_gradient, .kernels = kernels,
};
