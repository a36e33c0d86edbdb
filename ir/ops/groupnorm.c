// groupnorm: normalizes groups of a sample's channels to mean 0 and variance 1
// over all pixels; see ../families/sample_norm.c.
#include "../families/column_reduce.h"
#include "../families/sample_norm.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum Args { GROUPS_ARG, SHARED_ARGS };

static const ArgSpec args[] = {
    { "groups", ARG_INT, "32", 1, 1 << 24, "number of groups of channels" },
    NORMAL_ARGS,
    { .name = NULL },
};

static ValueId build(Build *b)
{
    Shape shape = b->g->values[b->operand[0]].shape;
    int64_t groups = b->arg[GROUPS_ARG].i;
    if (!build_wants(b, 0, shape.rank == 2 ? 2 : 4,
                     "a map [height, width, channels] or [channels]"))
        return NONE;
    if (columns_of(shape) % groups != 0) {
        error(b->g->diag, b->arg[GROUPS_ARG].pos,
              "%lld channels do not fall into %lld equal groups",
              (long long)columns_of(shape), (long long)groups);
        return NONE;
    }
    return normal_build(b, groups, rows_of(shape) / shape.dim[0],
                        &b->arg[SHARED_ARGS]);
}

const Op op_groupnorm = {
    ROW(groupnorm), .args = args, .attrs = normal_attrs, .build = build,
    .shape = normal_shape, .gradient = normal_gradient,
    .kernels = normal_kernels,
};
