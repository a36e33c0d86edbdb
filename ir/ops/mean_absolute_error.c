// mean_absolute_error: a metric, the mean of |a - b|.  Metrics have no
// gradient.
#include <math.h>
#include "../op/op_row.h"
#include "../families/pointwise_loss.h"
#include "../op/op_checks.h"

static ValueId build(Build *b)
{
    return build_pair(b, NULL);
}

static double mean_absolute_error(double a, double b, double setting)
{
    (void)setting;
    return fabs(a - b);
}

static void mean_absolute_error_rows(const Ref *r)
{
    pair_reference(r, mean_absolute_error);
}

static void mean_absolute_error_partials(const Ref *r)
{
    pair_partial_reference(r, mean_absolute_error);
}

static const Kernel kernels[] = {
    PAIR_FORWARD(mean_absolute_error), { .results = NULL },
};

const Op op_mean_absolute_error = {
    ROW(mean_absolute_error), .build = build, .shape = shape_of_rows,
    .kernels = kernels,
};
