// fuse_column_sums: the convolution that makes a map makes the sums of its
// channels, which a batch norm needs.
//
//   %5 x = conv(%0, %1)
//   %6 mean, %7, %8, %9 = batchnorm.statistics_moments(%5, weight, header)
//   ...
//   %30 = conv.dgrad(%29, %11, %10) act=relu
//   %31 d.bias, %32 d.weight, %33 =
//       batchnorm.reduce_sums(%30, %5, %6, %7, header)
// becomes
//   %5 x, %6 mean, %7, %8, %9 = conv.moments(%0, %1, -, weight, header)
//   ...
//   %30, %31 d.bias, %32 d.weight, %33 =
//       conv.dgrad_products(%29, %11, %10, %5, %6, %7, header) act=relu
//
// Each block adds up its tile as it is stored, from registers: the map is not
// read again (runtime/kernels/conv_sums.cuh).  Backward, the launch reads the
// norm's operand, which the norm's gradient reads next.
//
// This pass changes rounding: sums have the order of tiles, and each tile its
// own mean.  Shapes fix the order and, on tensor cores, the GPU's tiles.  The
// pass looks at neither the peak nor stored values, so that no budget and no
// scale of the loss changes a bit.
#include "pass.h"

// True if all other operands of `sums` are made before node i.
static bool are_made(const Graph *g, const Node *sums, NodeId i)
{
    for (int32_t k = 1; k < sums->operand_count; k++) {
        ValueId v = sums->operands[k];
        if (v != NONE && g->values[v].def >= i) return false;
    }
    return true;
}

// Returns the launch that may make the sums of node `at`, or NONE.
static NodeId find_maker(const Graph *g, NodeId at)
{
    const Node *sums = &g->nodes[at];
    const Kernel *made = &sums->op->kernels[sums->kernel];
    if (made->reduces == NO_SUMS || made->partials != NULL) return NONE;
    NodeId i = g->values[sums->operands[0]].def;
    if (i == NONE) return NONE;
    const Node *n = &g->nodes[i];
    int part = n->op->kernels[n->kernel].reducing;
    if (part == 0 || n->op->kernels[part].reduces != made->reduces ||
        !is_launch(n) || n->phase != sums->phase || n->result_count != 1 ||
        !are_made(g, sums, i))
        return NONE;
    return i;
}

static void list(ValueId *to, int *count, const ValueId *from, int from_count)
{
    for (int k = 0; k < from_count; k++) to[(*count)++] = from[k];
}

// Returns n as the part that makes the sums too.
static Node with_sums(const Graph *g, const Node *n, const Node *sums)
{
    Node both = *n;
    both.kernel = (int8_t)n->op->kernels[n->kernel].reducing;
    both.operand_count = both.result_count = 0;
    both.operands = NEW_ARRAY(g->arena, MAX_SLOTS, ValueId);
    both.results = NEW_ARRAY(g->arena, MAX_SLOTS, ValueId);
    list(both.operands, &both.operand_count, n->operands, n->operand_count);
    list(both.operands, &both.operand_count, sums->operands + 1,
         sums->operand_count - 1);
    list(both.results, &both.result_count, n->results, 1);
    list(both.results, &both.result_count, sums->results, sums->result_count);
    n->op->kernels[both.kernel].take(&both, sums);
    return both;
}

// Fuses nodes i and at, if the partial sums of all tiles have a shape.
static void fuse(Graph *g, NodeId i, NodeId at)
{
    Node both = with_sums(g, &g->nodes[i], &g->nodes[at]);
    Shape partials = both.op->kernels[both.kernel].partials(g, &both);
    if (partials.rank == 0) return;
    g->values[both.results[both.result_count - 1]].shape = partials;
    g->nodes[i] = both;
    for (int32_t k = 1; k < both.result_count; k++)
        if (both.results[k] != NONE) g->values[both.results[k]].def = i;
    g->nodes[at].op = NULL;
}

void pass_fuse_column_sums(Graph *g, const PassOptions *o)
{
    (void)o;
    for (NodeId at = 0; at < g->node_count; at++) {
        NodeId i = g->nodes[at].op != NULL ? find_maker(g, at) : NONE;
        if (i != NONE) fuse(g, i, at);
    }
    graph_compact(g);
}
