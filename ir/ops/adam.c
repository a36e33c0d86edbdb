// adam: moments of the gradient, with PyTorch's meaning of the arguments:
// weight_decay is added to the gradient, unlike in AdamW.
#include "../families/adam_moments.h"
#include "../op/op_row.h"

static const ArgSpec args[] = {
    MOMENT_ARGS,
    { "weight_decay", ARG_FLOAT, "0", 0, 1e30, "this times the weight is "
      "added to its gradient" },
    { .name = NULL },
};

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_moments(g, n, l, false);
}

static void reference(const Ref *r)
{
    reference_moments(r, false);
}

static const Kernel kernels[] = {
    { .name = "", .results = "", .cost = cost_moments, .launch = launch,
      .reference = reference },
    { .results = NULL },
};

const Op op_adam = {
    ROW(adam), .args = args, .attrs = moment_attrs, .build = build_moments,
    .state = moment_states, .kernels = kernels,
};
