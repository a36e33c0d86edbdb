// stochastic_depth: drops whole samples of a branch at random in training and
// scales the others, so that nets of many depths are trained.  The draws are in
// ../families/random_drop.c, for element 0; outside training there is no node.
#include "../families/random_drop.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { GATED = 1 };              // kernel

static const ArgSpec args[] = {
    { "rate", ARG_FLOAT, NULL, 0, 1, "the part of the samples that is "
      "dropped, below 1" },
    { .name = NULL },
};

// A block is within one sample; a thread draws once for EACH elements.
static void launch(const Graph *g, const Node *n, Launch *l)
{
    enum { BLOCK = 256, EACH = 8 };
    Shape shape = g->values[n->results[0]].shape;
    int64_t batch = shape.dim[0], width = elements(shape) / batch;
    launch_kernel(l, is_accumulating(g) ? "stochastic_depth_accumulated"
                                    : "stochastic_depth_forward",
                  batch * ceil_div(width, BLOCK * EACH), BLOCK);
    drop_arguments(g, n, l);
}

static void reference(const Ref *r)
{
    Shape shape = ref_out(r, 0);
    int64_t width = elements(shape) / shape.dim[0];
    for (int64_t i = 0; i < elements(shape); i++)
        r->out[0][i] = drop_keeps(r, i / width, 0)
            ? r->in[0][i] / (1 - r->n->attr[DROP_RATE].f) : 0;
}

static const Kernel kernels[] = {
    { .name = "", .results = "y^", .in_place = "y/x", .gated = GATED,
      .cost = cost_elementwise, .launch = launch, .reference = reference },
    [GATED] = DROP_GATED,
    { .results = NULL },
};

const Op op_stochastic_depth = {
    ROW(stochastic_depth), .args = args, .attrs = drop_attrs,
    .build = drop_build, .simplify = drop_simplify, .gradient = drop_gradient,
    .rebase_samples = drop_rebase,
    .kernels = kernels,
};
