// The cost of a launch: its operator's, and that of operands computed on load.
//
//   %5 y = batchnorm(%4 x, ...) act=relu fused_load
//   %6 z = conv(%5, %2)        flops of both and of relu; reads %4, ... and %2
//   %7 p = maxpool(%6)         or, if %6 is too, of all four: z has no bytes
//
// Operations of an operand computed on load are counted once per element.  The
// time of a GEMM counts them as often as its tiles load them.  A value is
// counted as read once, though not every block may find it in a cache.
#include "op.h"

void cost_add(Cost *sum, const Cost *cost)
{
    sum->flops = capped_sum(sum->flops, cost->flops);
    sum->products = capped_sum(sum->products, cost->products);
    sum->bytes = capped_sum(sum->bytes, cost->bytes);
    sum->tiles = capped_sum(sum->tiles, cost->tiles);
}

void cost_product(Cost *cost, int64_t flops)
{
    cost->flops = capped_sum(cost->flops, flops);
    cost->products = capped_sum(cost->products, flops);
}

static int64_t moved(const Graph *g, ValueId v)
{
    const Value *value = &g->values[v];
    bool scratch = value->dtype == U8 && value->kind == WORKSPACE;
    return scratch ? 0 : value_bytes(value);
}

void cost_view(const Graph *g, const Node *n, Cost *cost)
{
    (void)g, (void)n;
    *cost = (Cost){ .flops = 0, .bytes = 0 };
}

int64_t cost_bytes(const Graph *g, const Node *n)
{
    Slot slots[MAX_SLOTS];
    int count =
        kernel_slots(kernel_operands(n->op, n->kernel), slots, MAX_SLOTS);
    ValueId reads[MAX_READS];
    int64_t bytes = 0;

    for (int k = node_reads(g, n, reads) - 1; k >= 0; k--)
        bytes += moved(g, reads[k]);
    for (int32_t k = 0; k < n->operand_count && k < count; k++)
        if (slots[k].updated && n->operands[k] != NONE)
            bytes += moved(g, n->operands[k]);
    for (int32_t r = 0; r < n->result_count; r++)
        if (n->results[r] != NONE) bytes += moved(g, n->results[r]);
    return bytes;
}

void cost_elementwise(const Graph *g, const Node *n, Cost *cost)
{
    cost->flops = elements(g->values[n->results[0]].shape);
    cost->bytes = cost_bytes(g, n);
}

// Adds the cost of n, and the flops of nodes that it computes on load.
static void add_node(const Graph *g, const Node *n, Cost *sum)
{
    const Kernel *kernel = &n->op->kernels[n->kernel];
    Cost own = { .flops = 0 };
    if (kernel->cost != NULL) kernel->cost(g, n, &own);
    if (n->fused_load) own.bytes = 0;
    if (n->act != NULL)
        own.flops = capped_sum(own.flops,
                               elements(g->values[n->results[0]].shape));
    cost_add(sum, &own);
    for (int32_t k = 0; k < n->operand_count; k++) {
        ValueId v = n->operands[k];
        if (v != NONE && !is_stored(g, v))
            add_node(g, &g->nodes[g->values[v].def], sum);
    }
}

void node_cost(const Graph *g, const Node *n, Cost *cost)
{
    *cost = (Cost){ .flops = 0 };
    if (is_launch(n)) add_node(g, n, cost);
}
