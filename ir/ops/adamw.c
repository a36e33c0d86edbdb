// adamw: Adam with decoupled weight decay, which is in neither the gradient nor
// the moments; PyTorch's meaning of the arguments.  Loshchilov and Hutter 2019
// (arXiv 1711.05101).
#include "../families/adam_moments.h"
#include "../op/op_row.h"

static const ArgSpec args[] = {
    MOMENT_ARGS,
    { "weight_decay", ARG_FLOAT, "0.01", 0, 1e30, "this times the rate "
      "times the weight is subtracted, in addition to Adam's step" },
    { .name = NULL },
};

static void launch(const Graph *g, const Node *n, Launch *l)
{
    launch_moments(g, n, l, true);
}

static void reference(const Ref *r)
{
    reference_moments(r, true);
}

static const Kernel kernels[] = {
    { .name = "", .results = "", .cost = cost_moments, .launch = launch,
      .reference = reference },
    { .results = NULL },
};

const Op op_adamw = {
    ROW(adamw), .args = args, .attrs = moment_attrs, .build = build_moments,
    .state = moment_states, .kernels = kernels,
};
