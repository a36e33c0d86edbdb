// The nodes that quantization-aware training adds for its gradients
// (ir/ops/fake_quantize.c), put where they cost least.
//
//   %5 x = conv(...) act=relu    %9 y = fake_quantize(%5, %8)
//   ...
//   %30 dy = ...
//   %31 largest = fake_quantize.largest(%5)
//   %32 passes = fake_quantize.inside(%5, %8)
//   %33 d = relu.grad(%30, %32)    %34 dz = relu.grad(%33, %5)
// becomes
//   %5 x = conv(...) act=relu    %31 largest = ...(%5)    %9 y = ...
//   %32 passes = fake_quantize.inside(%5, %8) act=relu      fused_load
//   ...
//   %33 dz = relu.grad(%30, %32)
#include "../../ir/families/quantize.h"
#include "update.h"

static bool is_kernel(const Node *n, int kernel)
{
    return n->op == ops[OP_fake_quantize] && n->kernel == kernel;
}

// Returns the node `inside` by which n gates a gradient, or NULL.
static Node *gate_of(Graph *g, const Node *n)
{
    if (n->op != ops[OP_relu] || n->kernel != 1) return NULL;
    NodeId def = g->values[n->operands[1]].def;
    if (def == NONE || !is_kernel(&g->nodes[def], INSIDE_KERNEL)) return NULL;
    return &g->nodes[def];
}

// Merges the gradients of activations, whose results are rounded, into their
// gates.
static void merge_gates(Graph *g, NodeId first)
{
    for (NodeId i = first; i < g->node_count; i++) {
        Node *n = &g->nodes[i];
        if (n->op == NULL || !(n->op->flags & GATES) || n->kernel != 1)
            continue;
        NodeId before = g->values[n->operands[0]].def;
        Node *gate = before != NONE ? gate_of(g, &g->nodes[before]) : NULL;
        if (gate == NULL || gate->act != NULL ||
            gate->operands[QUANTIZED_X] != n->operands[1])
            continue;
        gate->act = n->op;
        graph_replace(g, n->results[0], n->operands[0]);
        n->op = NULL;
    }
}

// Moves `largest` to where its map is made or, of inputs, to the front, and
// `inside` to the beginning of the backward phase.
static void put_in_order(Graph *g, NodeId first)
{
    NodeId *order = NEW_ARRAY(g->arena, g->node_count, NodeId), at = 0;
    NodeId *next = NEW_ARRAY(g->arena, g->node_count, NodeId);
    NodeId *head = NEW_ARRAY(g->arena, g->node_count, NodeId);
    NodeId of_inputs = NONE;
    for (NodeId i = 0; i < g->node_count; i++) head[i] = NONE;
    for (NodeId i = first; i < g->node_count; i++) {
        if (!is_kernel(&g->nodes[i], LARGEST_KERNEL)) continue;
        NodeId maker = g->values[g->nodes[i].operands[QUANTIZED_X]].def;
        NodeId *list = maker != NONE ? &head[maker] : &of_inputs;
        next[i] = *list;
        *list = i;
    }
    for (NodeId k = of_inputs; k != NONE; k = next[k]) order[at++] = k;
    for (NodeId i = 0; i < first; i++) {
        order[at++] = i;
        for (NodeId k = head[i]; k != NONE; k = next[k]) order[at++] = k;
    }
    for (int others = 0; others < 2; others++)
        for (NodeId i = first; i < g->node_count; i++)
            if (!is_kernel(&g->nodes[i], LARGEST_KERNEL) &&
                is_kernel(&g->nodes[i], INSIDE_KERNEL) == !others)
                order[at++] = i;
    graph_reorder(g, order);
}

void place_quantized(Graph *g, NodeId first)
{
    bool any = false;
    for (NodeId i = first; i < g->node_count; i++) {
        bool is_inside = is_kernel(&g->nodes[i], INSIDE_KERNEL);
        if (is_inside) g->nodes[i].fused_load = true;
        any |= is_inside || is_kernel(&g->nodes[i], LARGEST_KERNEL);
    }
    if (!any) return;
    merge_gates(g, first);
    put_in_order(g, first);
    graph_compact(g);
}
