// f1: a metric, the harmonic mean of precision and recall of a class
// (van Rijsbergen 1979, Information Retrieval)
// (../families/class_ratio.h).
#include "../families/class_ratio.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

static Quotient quotient(ClassPixels count)
{
    return (Quotient){ 2 * count.right, count.predicted + count.labelled };
}

static void reference(const Ref *r)
{
    ratio_rows_reference(r, quotient);
}

static const Kernel kernels[] = { RATIO_KERNELS(reference) };

const Op op_f1 = {
    ROW(f1), .args = ratio_args, .attrs = ratio_attrs,
    .build = build_ratio, .shape = shape_of_pairs, .functor = "F1Of",
    .kernels = kernels,
};
