// channel_shuffle: mixes the channels of groups (Zhang et al. 2017, arXiv
// 1707.01083).  They form a matrix, a row for each group, which is transposed.
#include <inttypes.h>
#include "../families/permute.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { GROUPS };

static const ArgSpec args[] = {
    { "groups", ARG_INT, NULL, 1, 1LL << 40, "number of groups" },
    { .name = NULL },
};
static const AttrSpec attrs[] = {
    { "groups", ATTR_INT, 0, 0 }, { .name = NULL },
};

static int64_t channels_of(Shape x)
{
    return x.dim[x.rank - 1];
}

static ValueId build(Build *b)
{
    Graph *g = b->g;
    int64_t groups = b->arg[GROUPS].i;
    if (!build_wants_real(b, 0)) return NONE;
    Shape x = g->values[b->operand[0]].shape;
    if (channels_of(x) % groups != 0) {
        error(g->diag, b->arg[GROUPS].pos, "channel_shuffle needs groups of "
              "equal size, but %s has %" PRId64 " channels for %" PRId64,
              operand_text(b, 0), channels_of(x), groups);
        return NONE;
    }
    Attr attr[] = { [GROUPS] = { .i = groups } };
    return build_node(b, 1, b->operand, attr, x);
}

static Shape shape(const Graph *g, const Node *n)
{
    Shape x = g->values[n->operands[0]].shape;
    return x.rank > 1 && channels_of(x) % n->attr[GROUPS].i == 0
        ? x : shape_of(0);
}

static Order order_of(Shape x, const Attr *attr)
{
    Order order = { .count = 0 };
    int64_t channels = channels_of(x), each = channels / attr[GROUPS].i;
    append_axis(&order, elements(x) / channels, channels);
    append_axis(&order, each, 1);
    append_axis(&order, attr[GROUPS].i, each);
    return order;
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_permute(g, n, l, order_of);
}

static void reference(const Ref *r)
{
    ref_permute(r, order_of);
}

static const Kernel kernels[] = { PERMUTE_KERNELS };

const Op op_channel_shuffle = {
    ROW(channel_shuffle), .args = args, .attrs = attrs, .build = build,
    .shape = shape, .gradient = gradient_permute, .fits = "4 4 12; 3 | 6; 2",
    .kernels = kernels,
};
