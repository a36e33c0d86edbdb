// polynomial: a power of the fraction of steps that remain; PyTorch's
// PolynomialLR, which ends at 0.
#include <math.h>
#include "../op/op_row.h"
#include "../families/lr_schedule.h"

enum { STEPS, POWER, WARMUP, FINAL };

static const ArgSpec args[] = {
    STEPS_ARG,
    { "power", ARG_FLOAT, "1", 0, 1e6, "of the part of the steps that is "
      "left" },
    WARMUP_ARG,
    FINAL_ARG,
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "steps", ATTR_INT, 0, 0 }, { "power", ATTR_FLOAT, 0, 0 },
    { "warmup", ATTR_INT, 0, 0 }, { "final", ATTR_FLOAT, 0, 0 },
    { .name = NULL },
};

static double factor(const Attr *attr, double t)
{
    double last = (double)(attr[STEPS].i - attr[WARMUP].i);
    double final = attr[FINAL].f;
    if (t >= last) return final;
    return final + (1 - final) * pow((last - t) / last, attr[POWER].f);
}

static void reference(const Ref *r)
{
    reference_rate(r, factor);
}

static const Kernel kernels[] = RATE_KERNELS(reference);

const Op op_polynomial = {
    ROW(polynomial), .args = args, .attrs = attrs, .build = build_rate,
    .kernels = kernels,
};
