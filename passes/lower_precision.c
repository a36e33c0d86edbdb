// lower_precision: stores maps in 16 bits.
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
// A map is an activation or the gradient of one.  Other values keep their type:
// parameters, their gradients and the optimizer's state, statistics, sums,
// losses, the caller's inputs and outputs, and values marked float32.  A map
// also keeps its type if some launch that touches it can't take 16 bits (^ in
// ops.def); in practice these are the vectors between a batchnorm's launches.
// A view has its operand's type, and rows of an input have the input's.
#include "../ir/dtype.h"
#include "pass.h"

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

// True if n slices an input, which stays as the caller stores it.
static bool is_part_of_input(const Graph *g, const Node *n)
{
    const Kernel *kernel = &n->op->kernels[n->kernel];
    return kernel->slice != NULL && !kernel->joins &&
           g->values[n->operands[0]].def == NONE;
}

static void ask_node(const Graph *g, const Node *n, bool *halves)
{
    if (n->op->flags & VIEW) return;
    for (int32_t k = 0; k < n->operand_count; k++)
        if (n->operands[k] != NONE && !takes_half(n, n->operands[k]))
            halves[n->operands[k]] = false;
    for (int32_t r = 0; r < n->result_count; r++)
        if (n->results[r] != NONE &&
            (is_part_of_input(g, n) || !takes_half(n, n->results[r])))
            halves[n->results[r]] = false;
}

// Makes both ends of a view 16 bits wide or neither.  Returns true if that
// changed anything, for views of views.
static bool join_views(const Graph *g, bool *halves)
{
    bool changed = false;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (!(n->op->flags & VIEW)) continue;
        ValueId of = n->operands[0], view = n->results[0];
        if (halves[of] == halves[view]) continue;
        halves[of] = halves[view] = false;
        changed = true;
    }
    return changed;
}

void pass_lower_precision(Graph *g, const PassOptions *o)
{
    (void)o;
    if (g->map == g->real) return;
    bool *halves = NEW_ARRAY(g->arena, g->value_count, bool);
    for (ValueId v = 0; v < g->value_count; v++) halves[v] = is_map(g, v);
    for (NodeId i = 0; i < g->node_count; i++)
        ask_node(g, &g->nodes[i], halves);
    while (join_views(g, halves)) {}
    for (ValueId v = 0; v < g->value_count; v++)
        if (halves[v]) g->values[v].dtype = g->map;
}
