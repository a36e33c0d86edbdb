// lower_precision: maps are stored in 16 bits.
//
//   net n mode=train batch=8 real=f32 map=f16
//   %5 a f32[8, 32, 32, 16] = conv(x, conv.weight, conv.bias)
//   %9 d.a f32[8, 32, 32, 16] gradient of=%5 = conv.dgrad(...)
// becomes
//   %5 a f16[8, 32, 32, 16] = conv(x, conv.weight, conv.bias)
//   %9 d.a f16[8, 32, 32, 16] gradient of=%5 = conv.dgrad(...)
//
// No cast is a launch: a kernel makes a real of each element as it loads it,
// and rounds each as it stores it (ir/dtype.h).  In between all is real.
//
// A map is an activation or the gradient of one.  What else there is stays as
// it is: parameters with their gradients and all that optimizers keep of them,
// statistics, sums, losses; inputs and outputs, which are the caller's; and
// what the program marks (float32).  So does what any launch has no type for
// (^ in ops.def): none of an operator's maps, but the vectors between a
// batchnorm's launches.  A view is of its operand's type, and rows of an input
// are part of the input.
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

// A copy of what no launch makes can be part of it.
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

// Both ends of a view are of 16 bits, or neither is.  Returns whether that
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
