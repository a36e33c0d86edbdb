// depth_to_space: the channels of a pixel become a block of pixels.  The order
// is that of TensorFlow and ONNX: channels of a result's pixel are adjacent.
#include "../families/permute.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

static Order order_of(Shape x, const Attr *attr)
{
    return enlarging_order(x, attr[FACTOR].i, true);
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

const Op op_depth_to_space = {
    ROW(depth_to_space), .args = block_args, .attrs = block_attrs,
    .build = build_enlarged, .shape = shape_enlarged,
    .gradient = gradient_permute, .fits = "a b 8; 2 | a b 9; 3 | a b 4; 2",
    .kernels = kernels,
};
