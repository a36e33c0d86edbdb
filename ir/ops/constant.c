// constant: the base rate, after a warmup.
#include "../op/op_row.h"
#include "../families/lr_schedule.h"

static const ArgSpec args[] = {
    WARMUP_ARG,
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "warmup", ATTR_INT, 0, 0 }, { .name = NULL },
};

static double factor(const Attr *attr, double t)
{
    (void)attr, (void)t;
    return 1;
}

static void reference(const Ref *r)
{
    reference_rate(r, factor);
}

static const Kernel kernels[] = RATE_KERNELS(reference);

const Op op_constant = {
    ROW(constant), .args = args, .attrs = attrs, .build = build_rate,
    .kernels = kernels,
};
