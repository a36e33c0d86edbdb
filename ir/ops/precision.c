// precision: a metric, the share of right predictions among all predictions of
// a class (../families/class_ratio.h).
#include "../families/class_ratio.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

static Quotient quotient(ClassPixels count)
{
    return (Quotient){ count.right, count.predicted };
}

static void reference(const Ref *r)
{
    ratio_rows_reference(r, quotient);
}

static const Kernel kernels[] = { RATIO_KERNELS(reference) };

const Op op_precision = {
    ROW(precision), .args = ratio_args, .attrs = ratio_attrs,
    .build = build_ratio, .shape = shape_of_pairs, .functor = "PrecisionOf",
    .kernels = kernels,
};
