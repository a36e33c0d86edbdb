// lower_precision: stores maps in 16 bits, or in 8 (quantize.c); then pools of
// maps of 8 bits are fused (fuse_pool.c).
//
//   net n mode=train batch=8 real=f32 map=f16
//   %5 a f32[8, 32, 32, 16] = conv(x, conv.weight, conv.bias)
//   %9 d.a f32[8, 32, 32, 16] gradient of=%5 = conv.dgrad(...)
// becomes
//   %5 a f16[8, 32, 32, 16] = conv(x, conv.weight, conv.bias)
//   %9 d.a f16[8, 32, 32, 16] gradient of=%5 = conv.dgrad(...)
//
// No cast is a launch: a kernel converts each element to a real when it loads
// it and rounds it when it stores it (ir/dtype.h).  It computes in reals.
//
// A map is an activation or the gradient of one.  A file that only infers
// stores parameters of rank 2 and more as maps, too (Graph.weight).  That does
// not hold where a launch touches a map that is marked float32.  Other values
// keep their type: other parameters, their gradients and the optimizer's state,
// statistics, sums, losses, the caller's inputs and outputs, and values marked
// float32.  A map also keeps its type if some launch that touches it can't take
// 16 bits (^ in ops.def); in practice these are the vectors between a
// batchnorm's launches.
// A view has its operand's type, and rows of an input have the input's.
#include "../ir/dtype.h"
#include "fuse_pool.h"
#include "quantize.h"

static bool is_of_parameter(const Graph *g, ValueId v)
{
    ValueId of = g->values[v].gradient_of;
    return of != NONE && g->values[of].persistent;
}

static bool is_map(const Graph *g, ValueId v)
{
    const Value *value = &g->values[v];
    return value->dtype == g->real && value->def != NONE &&
           (value->kind == ACTIVATION || value->kind == GRADIENT) &&
           !value->persistent && !value->output && value->output_number == 0 &&
           is_stored(g, v) && !keeps_f32(g, v) && !is_of_parameter(g, v);
}

static bool is_weight_matrix(const Graph *g, ValueId v)
{
    const Value *value = &g->values[v];
    return g->weight != g->real && value->kind == PARAM &&
           value->dtype == g->real && value->shape.rank >= 2;
}

static bool touches_f32(const Graph *g, const Node *n)
{
    for (int32_t k = 0; k < n->operand_count + n->result_count; k++) {
        ValueId v = k < n->operand_count ? n->operands[k]
                                         : n->results[k - n->operand_count];
        if (v != NONE && keeps_f32(g, v)) return true;
    }
    return false;
}

// True if n slices an input, which stays as the caller stores it.
static bool is_part_of_input(const Graph *g, const Node *n)
{
    const Kernel *kernel = &n->op->kernels[n->kernel];
    return kernel->slice != NULL && !kernel->joins &&
           g->values[n->operands[0]].def == NONE;
}

// takes_half or takes_scaled.
typedef bool Takes(const Node *n, ValueId v);

static void ask_node(const Graph *g, const Node *n, Takes *takes, bool *lowered)
{
    if (n->op->flags & VIEW) return;
    bool is_f32 = touches_f32(g, n);
    for (int32_t k = 0; k < n->operand_count; k++) {
        ValueId v = n->operands[k];
        if (v != NONE && (!takes(n, v) ||
                          (is_f32 && g->values[v].kind == PARAM)))
            lowered[v] = false;
    }
    for (int32_t r = 0; r < n->result_count; r++)
        if (n->results[r] != NONE &&
            (is_part_of_input(g, n) || !takes(n, n->results[r])))
            lowered[n->results[r]] = false;
}

// Lowers both ends of a view or neither.  Returns true if that changed
// anything, for views of views.
static bool join_views(const Graph *g, bool *lowered)
{
    bool changed = false;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (!(n->op->flags & VIEW)) continue;
        ValueId of = n->operands[0], view = n->results[0];
        if (lowered[of] == lowered[view]) continue;
        lowered[of] = lowered[view] = false;
        changed = true;
    }
    return changed;
}

void pass_lower_precision(Graph *g, const PassOptions *o)
{
    if (g->map == g->real) return;
    bool *lowered = NEW_ARRAY(g->arena, g->value_count, bool);
    for (ValueId v = 0; v < g->value_count; v++)
        lowered[v] = is_map(g, v) || is_weight_matrix(g, v);
    for (NodeId i = 0; i < g->node_count; i++)
        ask_node(g, &g->nodes[i], g->map == I8 ? takes_scaled : takes_half,
                 lowered);
    while (join_views(g, lowered)) {}
    if (g->map == I8) {
        quantize(g, lowered);
        if (o->enabled[PASS_fuse_pool]) fuse_integer_pools(g);
        return;
    }
    for (ValueId v = 0; v < g->value_count; v++)
        if (lowered[v]) g->values[v].dtype = g->map;
}
