// fuse_batchnorm: a batch norm with running statistics moves into the launch
// that makes its operand, and so does a sum with another map after it.
//
//   %5 = conv(%0, %1)       %6 = batchnorm(%5, %2, %3, mean, variance)
//   %7 = add(%4, %6) act=relu
// becomes
//   %7 = conv.normalized(%0, %1, -, %2, %3, mean, variance, %4) act=relu
//
// Evaluation, inference and frozen layers use running statistics.  A batch norm
// with the statistics of its batch has to wait for the whole map.  The kernel
// rounds the map to its type before it applies the norm, and likewise before it
// adds (NormalizedStore in runtime).  So every bit is that of three launches.
//
// The map in between must have no other reader, be no output and have the type
// of maps.  The gradient of such a norm does not read the map, unless the
// norm's weight is trained: then the map stays.
//
// A sum waits for both operands, and with it the convolution, whose own operand
// must live until then.  So the fusion is left out where that may raise the
// peak (waits_for_free).  If both operands of a sum may be made so, the later
// one is.
#include "../ir/base/sizes.h"
#include "../ir/dtype.h"
#include "../ir/families/batch_moments.h"
#include "fuse_pool.h"

// Operands of batchnorm's forward kernel.
enum { X, WEIGHT, BIAS, MEAN, VARIANCE, BATCH_MEAN };

// Returns the forward launch that makes v for its only reader, or NONE.
static NodeId only_maker(const Graph *g, const Uses *uses, ValueId v)
{
    NodeId i = g->values[v].def;
    if (i == NONE || g->nodes[i].op == NULL || g->nodes[i].act != NULL ||
        g->nodes[i].fused_load || g->nodes[i].phase != FORWARD ||
        keeps_f32(g, v) || only_reader(g, uses, v) == NONE)
        return NONE;
    return i;
}

// Replaces node `reader` by n, with its result and activation; deletes n's old
// place, `maker`.  So all operands exist before n.
static void replace(Graph *g, NodeId reader, Node n, NodeId maker)
{
    const Node *m = &g->nodes[reader];
    ValueId y = m->results[0];
    graph_mark_too(g, n.results[0], y);
    n.act = m->act;
    n.results[0] = y;
    g->values[y].def = reader;
    g->nodes[reader] = n;
    g->nodes[maker].op = NULL;
}

static void fuse_norm(Graph *g, const Uses *uses, NodeId at)
{
    const Node *norm = &g->nodes[at];
    NodeId i = only_maker(g, uses, norm->operands[X]);
    if (i == NONE || norm->operands[BATCH_MEAN] != NONE) return;
    Node n = g->nodes[i];
    int part = n.op->kernels[n.kernel].normalizing, first = n.operand_count;
    if (part == 0) return;
    ValueId *operands = NEW_ARRAY(g->arena, first + NORM_OTHER + 1, ValueId);
    for (int k = 0; k < first; k++) operands[k] = n.operands[k];
    for (int k = NORM_GAMMA; k <= NORM_VARIANCE; k++)
        operands[first + k] = norm->operands[WEIGHT + k];
    operands[first + NORM_OTHER] = NONE;
    n.kernel = (int8_t)part;
    n.operands = operands;
    n.operand_count = first + NORM_OTHER + 1;
    n.op->kernels[part].take(&n, norm);
    replace(g, at, n, i);
}

// True if v is computed from `from`, or is it.
static bool depends_on(const Graph *g, ValueId v, ValueId from)
{
    NodeId first = g->values[from].def, last = g->values[v].def;
    if (v == from || first == NONE) return true;
    if (last == NONE || last <= first) return false;
    // found[0] is that of node `first`.
    bool *found = NEW_ARRAY(g->arena, (size_t)(last - first) + 1, bool);
    found[0] = true;
    for (NodeId i = first + 1; i <= last; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 0; k < n->operand_count && n->op != NULL; k++) {
            ValueId x = n->operands[k];
            NodeId def = x == NONE ? NONE : g->values[x].def;
            found[i - first] |= def != NONE && def >= first &&
                                found[def - first];
        }
    }
    return found[last - first];
}

static int64_t stored_bytes(const Graph *g, ValueId v)
{
    DType type = keeps_f32(g, v) ? g->real : g->map;
    return capped_product(elements(g->values[v].shape), dtype_bytes(type));
}

// True if the peak does not grow when the convolution of x waits for `other`,
// to which it adds y.  That is so if x needs `other`, or is alive when `other`
// is made.  It is so, too, if x is no larger than y, which waited so far, and
// the sum takes the place of `other`.
static bool waits_for_free(const Graph *g, const Uses *uses, ValueId x,
                           ValueId y, ValueId other)
{
    const Value *value = &g->values[x];
    return depends_on(g, x, other) ||
           is_operand(&g->nodes[g->values[other].def], x) ||
           value->kind == INPUT || value->output ||
           (only_reader(g, uses, other) != NONE &&
            stored_bytes(g, x) <= stored_bytes(g, y));
}

// Returns the node that makes operand k of a sum and may add the other one, or
// NONE.
static NodeId maker_of_sum(const Graph *g, const Uses *uses, const Node *sum,
                           int k)
{
    ValueId other = sum->operands[1 - k];
    NodeId i = only_maker(g, uses, sum->operands[k]);
    if (i == NONE || other == sum->operands[k] ||
        !same_shape(g->values[other].shape, g->values[sum->results[0]].shape))
        return NONE;
    const Node *n = &g->nodes[i];
    return is_normalized(n) && n->operands[n->operand_count - 1] == NONE &&
                   waits_for_free(g, uses, n->operands[0], sum->operands[k],
                                  other)
               ? i : NONE;
}

static void fuse_sum(Graph *g, const Uses *uses, NodeId at)
{
    const Node *sum = &g->nodes[at];
    NodeId maker[2];
    for (int k = 0; k < 2; k++) maker[k] = maker_of_sum(g, uses, sum, k);
    int k = maker[1] > maker[0];
    if (maker[k] == NONE) return;
    Node n = g->nodes[maker[k]];
    n.operands[n.operand_count - 1] = sum->operands[1 - k];
    replace(g, at, n, maker[k]);
}

// A pool of the largest computes its map then, as pass fuse_pool would have it.
static void fuse_pool(Graph *g, const Uses *uses, const Node *pool)
{
    NodeId i = only_maker(g, uses, pool->operands[0]);
    if (i != NONE && is_normalized(&g->nodes[i])) fuse_into_pool(g, i, pool);
}

void pass_fuse_batchnorm(Graph *g, const PassOptions *o)
{
    Uses uses = graph_uses(g);
    const bool pools = o->enabled[PASS_fuse_pool];
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (n->op == NULL || n->kernel != 0 || n->phase != FORWARD ||
            keeps_f32(g, n->results[0]))
            continue;
        if (n->op == ops[OP_batchnorm]) fuse_norm(g, &uses, i);
        else if (n->op == ops[OP_add]) fuse_sum(g, &uses, i);
        else if (pools && n->op->flags & POOLS) fuse_pool(g, &uses, n);
    }
    graph_compact(g);
}
