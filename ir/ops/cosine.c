// cosine: half a cosine from the rate to its final value; PyTorch's
// CosineAnnealingLR, except that the rate stays there.  Loshchilov and Hutter
// 2017 (arXiv 1608.03983).
#include <math.h>
#include "../op/op_row.h"
#include "../families/lr_schedule.h"

enum { STEPS, WARMUP, FINAL };

static const ArgSpec args[] = {
    STEPS_ARG,
    WARMUP_ARG,
    FINAL_ARG,
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "steps", ATTR_INT, 0, 0 }, { "warmup", ATTR_INT, 0, 0 },
    { "final", ATTR_FLOAT, 0, 0 }, { .name = NULL },
};

static double factor(const Attr *attr, double t)
{
    double last = (double)(attr[STEPS].i - attr[WARMUP].i);
    double final = attr[FINAL].f;
    if (t >= last) return final;
    return final + (1 - final) / 2 * (1 + cos(acos(-1) * t / last));
}

static void reference(const Ref *r)
{
    reference_rate(r, factor);
}

static const Kernel kernels[] = RATE_KERNELS(reference);

const Op op_cosine = {
    ROW(cosine), .args = args, .attrs = attrs, .build = build_rate,
    .kernels = kernels,
};
