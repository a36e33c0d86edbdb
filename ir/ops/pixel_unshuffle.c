// pixel_unshuffle: a block of pixels becomes the channels of one pixel.  It is
// the inverse of pixel_shuffle.
#include "../families/permute.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

static Order order_of(Shape x, const Attr *attr)
{
    return reducing_order(x, attr[FACTOR].i, false);
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

const Op op_pixel_unshuffle = {
    ROW(pixel_unshuffle), .args = block_args, .attrs = block_attrs,
    .build = build_reduced, .shape = shape_reduced,
    .gradient = gradient_permute, .fits = "4 6 a; 2 | 3 6 a; 3 | 2 2 8; 2",
    .kernels = kernels,
};
