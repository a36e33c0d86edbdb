// layernorm: normalizes each pixel's channels to mean 0 and variance 1.  It is
// the normalisation of ../families/sample_norm.c with one group for each pixel.
#include "../families/sample_norm.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

static const ArgSpec args[] = { NORMAL_ARGS, { .name = NULL } };

static ValueId build(Build *b)
{
    Shape shape = b->g->values[b->operand[0]].shape;
    if (!build_wants(b, 0, shape.rank < 2 ? 2 : shape.rank,
                     "[channels], or more of them"))
        return NONE;
    return normal_build(b, 1, 1, b->arg);
}

const Op op_layernorm = {
    ROW(layernorm), .args = args, .attrs = normal_attrs, .build = build,
    .shape = normal_shape, .gradient = normal_gradient,
    .kernels = normal_kernels,
};
