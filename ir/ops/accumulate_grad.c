// accrue: sums gradients over the batches of a training step
// (grad_accumulation.h).
//
// A batch's gradients are means over its samples, so they are weighted by the
// number of samples; the first batch after an update starts the sum.  The
// header holds the earlier samples and the sums of losses and metrics.  The
// calls between two batches change neither, and a captured graph of launches
// stays valid.
#include "../families/grad_accumulation.h"
#include "../op/op_row.h"
#include "../op/op_checks.h"

enum { SUM, ADDED };            // operands

bool is_sum(const Graph *g, ValueId v)
{
    const Value *value = &g->values[v];
    return value->persistent && !is_persistent(value->kind) && !is_given(value);
}

bool ends_batch(const Node *n)
{
    return n->op == &op_accumulate_grad && n->kernel == ACCUMULATE_NEXT;
}

NodeId find_batch_end(const Graph *g)
{
    for (NodeId i = g->node_count - 1; i >= 0; i--)
        if (ends_batch(&g->nodes[i])) return i;
    return NONE;
}

static int64_t sum_count(const Graph *g, const Node *n)
{
    return elements(g->values[n->operands[SUM]].shape);
}

// ---- a batch ----------------------------------------------------------------

static void add_cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = 2 * sum_count(g, n);
    cost->bytes = cost_bytes(g, n);
}

static void add_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_elements(l, "accumulate_grad_add", sum_count(g, n));
    Launch *arrays = launch_item(l, "AccumulatedArrays");
    launch_value(arrays, n->operands[SUM]);
    launch_value(arrays, n->operands[ADDED]);
    launch_int(arrays, sum_count(g, n), NULL);
    launch_header(l);
    launch_samples(l);
}

static void add_reference(const Ref *r)
{
    bool first = r->header[HEADER_ACCUMULATED] == 0;
    for (int64_t i = 0; i < elements(ref_in(r, SUM)); i++)
        r->in[SUM][i] = (first ? 0 : r->in[SUM][i]) +
                        (double)r->samples * r->in[ADDED][i];
}

// One thread updates the header.
static void header_cost(const Graph *g, const Node *n, Cost *cost)
{
    (void)g, (void)n;
    *cost = (Cost){ .flops = 1, .bytes = 160 };
}

static void next_launch(const Graph *g, const Node *n, Launch *l)
{
    (void)g, (void)n;
    launch_kernel(l, "accumulate_grad_next", 1, 32);
    launch_header(l);
    launch_samples(l);
}

static void next_reference(const Ref *r)
{
    r->header[HEADER_ACCUMULATED] += (double)r->samples;
    r->header[HEADER_ACCUMULATED_BATCHES] += 1;
}

// ---- the update -------------------------------------------------------------

static void begin_launch(const Graph *g, const Node *n, Launch *l)
{
    (void)g, (void)n;
    launch_kernel(l, "accumulate_grad_begin", 1, 32);
    launch_header(l);
}

static void mean_cost(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = sum_count(g, n);
    cost->bytes = cost_bytes(g, n);
}

static void mean_launch(const Graph *g, const Node *n, Launch *l)
{
    launch_elements(l, "accumulate_grad_mean", sum_count(g, n));
    Launch *arrays = launch_item(l, "AccumulatedSum");
    launch_value(arrays, n->operands[SUM]);
    launch_int(arrays, sum_count(g, n), NULL);
    launch_header(l);
}

static void mean_reference(const Ref *r)
{
    for (int64_t i = 0; i < elements(ref_in(r, SUM)); i++)
        r->in[SUM][i] /= r->header[HEADER_ACCUMULATED];
}

static void clear_launch(const Graph *g, const Node *n, Launch *l)
{
    (void)g, (void)n;
    launch_kernel(l, "accumulate_grad_clear", 1, 32);
    launch_header(l);
}

static void clear_reference(const Ref *r)
{
    for (int k = HEADER_ACCUMULATED; k < HEADER_SLOTS; k++)
        r->header[k] = 0;
}

static const Kernel kernels[] = {
    [ACCUMULATE_ADD] = { .name = "", .results = "", .cost = add_cost,
      .launch = add_launch, .reference = add_reference },
    [ACCUMULATE_MEAN] = { .name = "mean", .operands = "sum! header",
      .results = "", .cost = mean_cost, .launch = mean_launch,
      .reference = mean_reference },
    [ACCUMULATE_NEXT] = { .name = "next", .operands = "header!", .results = "",
      .cost = header_cost, .launch = next_launch,
      .reference = next_reference },
    [ACCUMULATE_BEGIN] = { .name = "begin", .operands = "header!",
      .results = "", .cost = header_cost, .launch = begin_launch,
      .reference = ref_begin_update },
    [ACCUMULATE_CLEAR] = { .name = "clear", .operands = "header!",
      .results = "", .cost = header_cost, .launch = clear_launch,
      .reference = clear_reference },
    { .results = NULL },
};

const Op op_accumulate_grad = { ROW(accumulate_grad), .kernels = kernels };
