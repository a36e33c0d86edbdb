// step: the rate is multiplied by a factor every N steps; PyTorch's StepLR.
#include "../op/op_row.h"
#include "../families/lr_schedule.h"

enum { EVERY, FACTOR };

static const ArgSpec args[] = {
    { "every", ARG_INT, NULL, 1, MOST_STEPS, "steps of a constant rate" },
    { "factor", ARG_FLOAT, "0.1", 0, 1e30, "factor of each change" },
    WARMUP_ARG,
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "every", ATTR_INT, 0, 0 }, { "factor", ATTR_FLOAT, 0, 0 },
    { "warmup", ATTR_INT, 0, 0 }, { .name = NULL },
};

static double factor(const Attr *attr, double t)
{
    double product = 1;
    for (int64_t falls = (int64_t)t / attr[EVERY].i; falls > 0; falls--)
        product *= attr[FACTOR].f;
    return product;
}

static void reference(const Ref *r)
{
    reference_rate(r, factor);
}

static const Kernel kernels[] = RATE_KERNELS(reference);

const Op op_step = {
    ROW(step), .args = args, .attrs = attrs, .build = build_rate,
    .kernels = kernels,
};
