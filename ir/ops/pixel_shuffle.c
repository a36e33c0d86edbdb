// pixel_shuffle: the channels of a pixel become a block of pixels (Shi et al.
// 2016, arXiv 1609.05158).  The order is PyTorch's: the f*f elements of a
// result's channel are adjacent.
#include "../families/permute.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

static Order order_of(Shape x, const Attr *attr)
{
    return enlarging_order(x, attr[FACTOR].i, false);
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

const Op op_pixel_shuffle = {
    ROW(pixel_shuffle), .args = block_args, .attrs = block_attrs,
    .build = build_enlarged, .shape = shape_enlarged,
    .gradient = gradient_permute, .fits = "a b 8; 2 | a b 9; 3 | a b 4; 2",
    .kernels = kernels,
};
