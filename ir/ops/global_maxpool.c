// global_maxpool: the maximum of each channel over a whole map; the first of
// equals, and NaN wins.
//
// In training the launch also stores the index of that pixel.  The gradient
// goes there alone, and needs neither x nor y.
#include "../op/activation_grad.h"
#include "../op/op_row.h"
#include "../families/pool.h"
#include "../op/op_checks.h"

static ValueId build(Build *b)
{
    Graph *g = b->g;
    if (!build_wants(b, 0, 4, "a map [height, width, channels]")) return NONE;
    Shape map = g->values[b->operand[0]].shape;
    if (map.dim[1] > INT32_MAX / map.dim[2]) {
        error(g->diag, b->operand_pos[0], "global_maxpool takes maps of at "
              "most %d pixels, but this is %s", INT32_MAX, operand_text(b, 0));
        return NONE;
    }
    ValueId y = build_node(b, 1, b->operand, NULL, pooled(map));
    if (g->mode != TRAIN) return y;
    NodeId n = g->values[y].def;
    ValueId index =
        graph_value(g, arena_print(g->arena, "%s.index", b->name), MASK, I32,
                    g->values[y].shape, b->pos);
    g->nodes[n].results[1] = index;
    g->values[index].def = n;
    return y;
}

static void gradient(Gradient *c)
{
    if (!gradient_wanted(c, 0)) return;
    Node n = c->g->nodes[c->node];
    ValueId operands[] = { gradient_of_result(c, 0), n.results[1], NONE };
    ValueId dx = gradient_value(c, 0);
    gradient_node(c, &op_global_maxpool, 1, 3, operands, 1, &dx);
    gradient_add(c, 0, dx);
}

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_pixels(l, "global_maxpool_forward",
                  g->values[n->operands[0]].shape);
    launch_type(l, n->results[1] != NONE ? "true" : "false");
    launch_slots(l, n, 2, 1);
}

static void reference(const Ref *r)
{
    Shape x = ref_in(r, 0), y = ref_out(r, 0);
    int64_t pixels = x.dim[1] * x.dim[2], channels = x.dim[3];
    for (int64_t i = 0; i < elements(y); i++) {
        const double *from =
            r->in[0] + i / channels * pixels * channels + i % channels;
        int64_t best = 0;
        for (int64_t p = 1; p < pixels; p++) {
            double v = from[p * channels], largest = from[best * channels];
            if (!(v <= largest) && largest == largest) best = p;
        }
        r->out[0][i] = from[best * channels];
        if (r->out[1] != NULL) r->out[1][i] = (double)best;
    }
}

static void grad_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_spread(l, n, "global_maxpool_gradient",
                  g->values[n->results[0]].shape);
    launch_act(l, n);
    launch_slots(l, n, 1, 3);
}

static void grad_reference(const Ref *r)
{
    Shape dx = ref_out(r, 0), dy = ref_in(r, 0);
    int64_t pixels = dx.dim[1] * dx.dim[2], channels = dx.dim[3];
    for (int64_t i = 0; i < elements(dx); i++) r->out[0][i] = 0;
    for (int64_t i = 0; i < elements(dy); i++) {
        int64_t pixel = i / channels * pixels + (int64_t)r->in[1][i];
        r->out[0][pixel * channels + i % channels] = r->in[0][i];
    }
    ref_mask(r, 2);
}

static const Kernel kernels[] = {
    { .name = "", .results = "y^% index?", .cost = cost_read, .launch = launch,
      .reference = reference },
    { .name = "grad", .operands = "dy^ index mask?~", .results = "dx/",
      .in_place = "dx/mask", .cost = cost_elementwise, .launch = grad_launch,
      .reference = grad_reference },
    { .results = NULL },
};

const Op op_global_maxpool = {
    ROW(global_maxpool), .build = build, .shape = pooled_shape,
    .simplify = simplify_pooled, .gradient = gradient, .kernels = kernels,
};
