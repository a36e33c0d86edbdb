// round_weights: makes copies of weights in the 16 bits of maps.
//
//   %5 a = conv(x, conv.weight, conv.bias)
//   %9 d.x = conv.dgrad(%8, conv.weight, -)
// becomes
//   %20 conv.weight.rounded f16 = round_weights(conv.weight)
//   %5 a = conv(x, %20, conv.bias)
//   %9 d.x = conv.dgrad(%8, %20, -)
//
// A product on tensor cores rounds its operands to 16 bits (Kernel.rounds).  It
// would read each weight as a float in every block, and round it there.  A copy
// has half of the bytes and goes straight to shared memory.  Results have the
// same bits.
//
// One launch at the beginning of a training step copies all weights; a node has
// up to 64.  The copies stay until the backward pass has read them, 2 bytes a
// weight, so they cost memory.  The decision (decide/decide_round_weights.c)
// says where they are worth it.  Inference would need the launch in each call,
// and reads a weight only once.  So this pass changes training steps alone.
#include "../ir/families/prune.h"
#include "pass.h"

typedef struct Rounding {
    Graph   *g;
    ValueId *copy;              // of each value, or NONE
    ValueId *weight;            // those with a copy, in order
    int32_t  count;
} Rounding;

static bool is_rounded(const Graph *g, const Node *n, int k)
{
    const Kernel *kernel = &n->op->kernels[n->kernel];
    ValueId v = n->operands[k];
    return kernel->rounds != NULL && v != NONE &&
           g->values[v].kind == PARAM && kernel->rounds(g, n, k);
}

static ValueId new_copy(Graph *g, ValueId weight)
{
    const Value of = g->values[weight];
    const char *name = g->nameless
                           ? of.name
                           : arena_print(g->arena, "%s.rounded", of.name);
    return graph_value(g, name, ACTIVATION, g->map, of.shape, of.pos);
}

// Lets each launch that rounds a weight read a copy.
static void read_copies(Rounding *r, int32_t values)
{
    Graph *g = r->g;
    for (ValueId v = 0; v < values; v++) r->copy[v] = NONE;
    for (NodeId i = 0; i < g->node_count; i++)
        for (int k = 0; k < g->nodes[i].operand_count; k++) {
            ValueId v = g->nodes[i].operands[k];
            if (!is_rounded(g, &g->nodes[i], k)) continue;
            if (r->copy[v] == NONE) {
                r->weight[r->count++] = v;
                r->copy[v] = new_copy(g, v);
            }
            g->nodes[i].operands[k] = r->copy[v];
        }
}

// Makes the copies of weights from `first` to before `end`, by one node.
static void make_copies(Rounding *r, int32_t first, int32_t end)
{
    Graph *g = r->g;
    ValueId made[MAX_SLOTS];
    for (int32_t k = first; k < end; k++)
        made[k - first] = r->copy[r->weight[k]];
    graph_node(g, ops[OP_round_weights], 0, FORWARD,
               g->nameless ? "" : g->values[made[0]].name,
               g->values[made[0]].pos, end - first, &r->weight[first],
               end - first, made);
}

// Returns the number of nodes that change weights at the beginning of a step.
static NodeId masks_of_step(const Graph *g)
{
    NodeId count = 0;
    while (count < g->node_count && makes_mask(&g->nodes[count])) count++;
    return count;
}

void pass_round_weights(Graph *g, const PassOptions *o)
{
    (void)o;
    if (g->mode != TRAIN || g->map == g->real) return;
    NodeId count = g->node_count;
    Rounding r = {
        .g = g, .copy = NEW_ARRAY(g->arena, g->value_count, ValueId),
        .weight = NEW_ARRAY(g->arena, g->value_count, ValueId),
    };
    read_copies(&r, g->value_count);
    for (int32_t k = 0; k < r.count; k += MAX_SLOTS)
        make_copies(&r, k, k + MAX_SLOTS < r.count ? k + MAX_SLOTS : r.count);
    graph_move_last(g, count, masks_of_step(g));
}
