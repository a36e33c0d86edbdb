// advance: ends a training step.  Random numbers depend on the number of steps,
// the optimizer on updates; a skipped step is no update.
#include "../op/op_row.h"

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    *cost = (Cost){ .flops = 2, .bytes = cost_bytes(g, n) };
}

static void last(const Graph *g, const Node *n, Launch *l)
{
    (void)g, (void)n;
    launch_struct(l, "AdvanceStep");
    launch_header(l);
}

static void reference(const Ref *r)
{
    r->header[HEADER_STEP] += 1;
    r->header[HEADER_UPDATES] += r->header[HEADER_SKIP] == 0;
}

static const Kernel kernels[] = {
    { .name = "", .results = "", .cost = cost,
      .launch = launch_alone, .last = last, .reference = reference },
    { .results = NULL },
};

const Op op_advance_step = { ROW(advance_step), .kernels = kernels };
