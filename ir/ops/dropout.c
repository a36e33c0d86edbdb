// dropout: drops elements at random in training and scales the others.  The
// draws are in ../families/random_drop.c; outside training there is no node.
#include "../families/random_drop.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { GATED = 1 };              // kernel

static const ArgSpec args[] = {
    { "rate", ARG_FLOAT, NULL, 0, 1, "the part of the elements that is "
      "dropped, below 1" },
    { .name = NULL },
};

static void launch(const Graph *g, const Node *n, Launch *l)
{
    Shape shape = g->values[n->results[0]].shape;
    int64_t batch = shape.dim[0], width = elements(shape) / batch;
    launch_elements(l,
                    is_accumulating(g) ? "dropout_accumulated"
                                       : "dropout_forward",
                    batch * ceil_div(width, 4));
    drop_arguments(g, n, l);
}

static void reference(const Ref *r)
{
    Shape shape = ref_out(r, 0);
    int64_t width = elements(shape) / shape.dim[0];
    double keep = drop_keep(r->n);
    for (int64_t i = 0; i < elements(shape); i++) {
        bool kept = drop_keeps(r, i / width, i % width);
        r->out[0][i] = kept ? keep * r->in[0][i] : 0;
    }
}

static const Kernel kernels[] = {
    { .name = "", .results = "y^", .in_place = "y/x", .gated = GATED,
      .cost = cost_elementwise, .launch = launch, .reference = reference },
    [GATED] = DROP_GATED,
    { .results = NULL },
};

const Op op_dropout = {
    ROW(dropout), .args = args, .attrs = drop_attrs, .build = drop_build,
    .simplify = drop_simplify, .gradient = drop_gradient,
    .rebase_samples = drop_rebase, .kernels = kernels,
};
