// global_avgpool: the mean of each channel over a whole map.  The gradient
// spreads dy over the pixels.
#include "../op/activation_grad.h"
#include "../op/op_row.h"
#include "../families/pool.h"
#include "../op/op_checks.h"

static ValueId build(Build *b)
{
    if (!build_wants(b, 0, 4, "a map [height, width, channels]")) return NONE;
    Shape map = b->g->values[b->operand[0]].shape;
    return build_node(b, 1, b->operand, NULL, pooled(map));
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    ValueId operands[] = { gradient_of_result(c, 0), NONE };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, &op_global_avgpool, 1, 2, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_pixels(l, "global_avgpool_forward",
                  g->values[n->operands[0]].shape);
    launch_slots(l, n, 1, 1);
}

static void reference(const Ref *r)
{
    Shape x = ref_in(r, 0), y = ref_out(r, 0);
    int64_t pixels = x.dim[1] * x.dim[2], channels = x.dim[3];
    for (int64_t i = 0; i < elements(y); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < elements(x); i++)
        r->out[0][i / channels / pixels * channels + i % channels] +=
            r->in[0][i] / (double)pixels;
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_spread(l, n, "global_avgpool_gradient",
                  g->values[n->results[0]].shape);
    launch_act(l, n);
    launch_slots(l, n, 1, 2);
}

static void grad_reference(const Ref *r)
{
    Shape dx = ref_out(r, 0);
    int64_t pixels = dx.dim[1] * dx.dim[2], channels = dx.dim[3];
    for (int64_t i = 0; i < elements(dx); i++) {
        int64_t from = i / channels / pixels * channels + i % channels;
        r->out[0][i] = r->in[0][from] / (double)pixels;
    }
    ref_mask(r, 1);
}

static const Kernel kernels[] = {
    { .name = "", .results = "y^%", .cost = cost_read, .launch = launch,
      .reference = reference },
    { .name = "grad", .operands = "dy^ mask?~", .results = "dx/",
      .in_place = "dx/mask", .cost = cost_elementwise, .launch = grad_launch,
      .reference = grad_reference },
    { .results = NULL },
};

const Op op_global_avgpool = {
    ROW(global_avgpool), .build = build, .shape = pooled_shape,
    .simplify = simplify_pooled, .gradient = gradient, .kernels = kernels,
};
