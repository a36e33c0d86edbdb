// focal: the loss of independent binary classes, in which elements that are
// easy count less (Lin et al. 2017), from logits: torchvision's
// sigmoid_focal_loss.
//
//   f = alpha_t * q^gamma * cross entropy,  p = sigmoid(x)
//   q = p * (1 - t) + (1 - p) * t,  alpha_t = alpha * t + (1 - alpha) * (1 - t)
//
// A negative alpha makes alpha_t 1.  The chance q of the other answer is a sum
// of two sigmoids, so that it loses no digits where it is small.  A target
// outside [0, 1] may make q negative; its power is that of |q|.
#include <math.h>
#include "../families/loss.h"
#include "../op/op_row.h"
#include "../families/pointwise_loss.h"
#include "../op/op_checks.h"

static const ArgSpec args[] = {
    { "alpha", ARG_FLOAT, "0.25", -1, 1, "the weight of targets of 1; those of "
      "0 have 1 - alpha; below 0: all have 1" },
    { "gamma", ARG_FLOAT, "2", 0, 100, "how much less easy elements count; "
      "0: they count as others" },
    WEIGHT_ARG, { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "weight", ATTR_FLOAT, 0, 0 }, { "alpha", ATTR_FLOAT, 0, 0 },
    { "gamma", ATTR_FLOAT, 0, 0 }, { .name = NULL },
};
enum { ALPHA, GAMMA, WEIGHT };  // arguments

static ValueId build(Build *b)
{
    Attr attr[] = { { .f = b->arg[WEIGHT].f }, { .f = b->arg[ALPHA].f },
                    { .f = b->arg[GAMMA].f } };
    return build_pair(b, attr);
}

// The parts of the formula at the top.
typedef struct Parts {
    double p, no, q, power, entropy, alpha;     // no: 1 - p; power: q^gamma
} Parts;

static Parts parts_of(double x, double t, const Attr *setting)
{
    Parts f = { .p = 1 / (1 + exp(-x)), .no = 1 / (1 + exp(x)), .alpha = 1 };
    f.q = f.p * (1 - t) + f.no * t;
    f.power = pow(fabs(f.q), setting[GAMMA].f);
    f.entropy = fmax(x, 0) - x * t + log1p(exp(-fabs(x))) + 0 * x;
    if (setting[ALPHA].f >= 0)
        f.alpha = setting[ALPHA].f * t + (1 - setting[ALPHA].f) * (1 - t);
    return f;
}

static double focal(double x, double t, const Attr *setting)
{
    Parts f = parts_of(x, t, setting);
    return f.alpha * f.power * f.entropy;
}

static double slope(double x, double t, const Attr *setting)
{
    Parts f = parts_of(x, t, setting);
    double steep = f.q == 0 ? 0 : (1 - 2 * t) * f.p * f.no / f.q;
    return f.alpha * f.power * (f.p * (1 - t) - f.no * t +
                                setting[GAMMA].f * f.entropy * steep);
}

static double target_slope(double x, double t, const Attr *setting)
{
    Parts f = parts_of(x, t, setting);
    double steep = f.q == 0 ? 0 : (f.no - f.p) / f.q;
    double change = setting[ALPHA].f >= 0 ? 2 * setting[ALPHA].f - 1 : 0;
    return f.power * (change * f.entropy +
                      f.alpha * (setting[GAMMA].f * f.entropy * steep - x));
}

static void focal_rows(const Ref *r)
{
    pair_reference(r, focal);
}

static void focal_partials(const Ref *r)
{
    pair_partial_reference(r, focal);
}

static void focal_slopes(const Ref *r)
{
    pair_grad_reference(r, slope, target_slope);
}

static const Kernel kernels[] = {
    PAIR_FORWARD(focal), PAIR_GRADIENT(focal), { .results = NULL },
};

const Op op_focal = {
    ROW(focal), .applies = &op_sigmoid, .args = args, .attrs = attrs,
    .build = build, .shape = shape_of_rows, .gradient = pair_gradient,
    .kernels = kernels,
};
