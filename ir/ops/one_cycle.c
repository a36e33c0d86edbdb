// one_cycle: up to the rate and then down to almost 0, each half a cosine;
// PyTorch's OneCycleLR with max_lr equal to the rate and without its cycle of
// momentum.  It has no warmup, since it rises itself.  Smith and Topin 2018
// (arXiv 1708.07120).
#include <math.h>
#include "../op/op_row.h"
#include "../families/lr_schedule.h"

enum { STEPS, RISING, DIV_FACTOR, FINAL_DIV_FACTOR };

static const ArgSpec args[] = {
    STEPS_ARG,
    { "pct_start", ARG_FLOAT, "0.3", 0, 0.999, "the part of the steps that "
      "the rate rises in" },
    { "div_factor", ARG_FLOAT, "25", 1e-30, 1e30, "the first rate is the rate "
      "divided by this" },
    { "final_div_factor", ARG_FLOAT, "1e4", 1e-30, 1e30, "and the last is the "
      "first divided by this" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "steps", ATTR_INT, 0, 0 }, { "pct_start", ATTR_FLOAT, 0, 0 },
    { "div_factor", ATTR_FLOAT, 0, 0 },
    { "final_div_factor", ATTR_FLOAT, 0, 0 }, { .name = NULL },
};

// Returns half a cosine: a if part is 0, b if part is 1.
static double between(double a, double b, double part)
{
    return b + (a - b) / 2 * (1 + cos(acos(-1) * part));
}

// The steps of the maximum and the minimum need not be integers.
static double factor(const Attr *attr, double t)
{
    double first = 1 / attr[DIV_FACTOR].f;
    double last = first / attr[FINAL_DIV_FACTOR].f;
    double end = (double)attr[STEPS].i - 1;
    double top = attr[RISING].f * (double)attr[STEPS].i - 1;
    if (t >= end) return last;
    if (t < top) return between(first, 1, t / top);
    return between(1, last, (t - top) / (end - top));
}

static void reference(const Ref *r)
{
    reference_rate(r, factor);
}

static const Kernel kernels[] = RATE_KERNELS(reference);

const Op op_one_cycle = {
    ROW(one_cycle), .args = args, .attrs = attrs, .build = build_rate,
    .kernels = kernels,
};
