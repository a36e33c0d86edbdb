// round_weights: copies of parameters in the 16 bits of maps, for products on
// tensor cores.
//
//   %40 w.rounded f16, %41 v.rounded f16 = round_weights(w, v)
//   %5 y f16 = conv(%4, %40, w.bias)
//
// Such products round their operands anyway, so they have the same bits.  One
// launch makes the copies of many parameters (pass round_weights).
#include "../op/op_row.h"
#include "../op/op_checks.h"

static int64_t count_of(const Graph *g, const Node *n, int k)
{
    return elements(g->values[n->operands[k]].shape);
}

static void cost(const Graph *g, const Node *n, Cost *cost)
{
    for (int k = 0; k < n->operand_count; k++)
        cost->flops = capped_sum(cost->flops, count_of(g, n, k));
    cost->bytes = cost_bytes(g, n);
}

// A thread converts EACH weights at once.
static void launch(const Graph *g, const Node *n, Launch *l)
{
    enum { BLOCK = 256, EACH = 8, LARGEST = 1 << 16 };
    int64_t blocks[MAX_SLOTS], grid = 0;
    for (int k = 0; k < n->operand_count; k++) {
        blocks[k] = ceil_div(count_of(g, n, k), BLOCK * EACH);
        if (blocks[k] > LARGEST) blocks[k] = LARGEST;
        grid += blocks[k];
    }
    launch_kernel(l, "round_weights", grid, BLOCK);
    launch_type_of(l, n->results[0]);
    Launch **arrays = launch_items(l, "RoundedWeights", n->operand_count,
                                   blocks);
    for (int k = 0; k < n->operand_count; k++) {
        launch_type_of(arrays[k], n->results[k]);
        launch_value(arrays[k], n->results[k]);
        launch_value(arrays[k], n->operands[k]);
        launch_int(arrays[k], count_of(g, n, k), NULL);
    }
}

// The interpreter rounds what is stored.
static void reference(const Ref *r)
{
    for (int k = 0; k < r->n->operand_count; k++)
        for (int64_t i = 0; i < count_of(r->g, r->n, k); i++)
            r->out[k][i] = r->in[k][i];
}

static const Kernel kernels[] = {
    { .name = "", .results = "rounded*^", .cost = cost, .launch = launch,
      .reference = reference },
    { .results = NULL },
};

const Op op_round_weights = { ROW(round_weights), .kernels = kernels };
