// sign_bits: keeps one bit an element of a map whose signs alone are needed
// backward.
//
//   %8 y = conv(%4, %1) act=relu    %9 = avgpool(%8)
//   ...
//   %30 = avgpool.grad(%29, mask %8) act=relu
// becomes
//   %8 y = conv(%4, %1) act=relu    %10 bits = signs(%8) act=relu    %9 = ...
//   ...
//   %31 passes = signs.read(%10) fused_load
//   %30 = avgpool.grad(%29, mask %31) act=relu
//
// Applies if the activation's gradient is dy or 0 (GATES), and all backward
// readers use the map only as that mask.  None may read it through a view, a
// copy that may be elided, or a node computed on load.  A map that is kept
// anyway (a convolution's operand) provides its signs for free.  The bits also
// pay only if another map is made while they are kept.
//
// A gate that is computed on load from a map has bits too.  They take the place
// of the map if no backward node reads it otherwise:
//   %8 x = conv(%4, %1)    %9 y = fake_quantize(%8, %2)    %10 = avgpool(%9)
//   ...
//   %31 passes = fake_quantize.inside(%8, %2) fused_load
//   %32 = relu.grad(%30, %31)
#include <string.h>
#include "../ir/families/quantize.h"
#include "pass.h"

// Returns the activation whose gradient n computes from v, as that gradient's
// own node or as a mask; NULL if there is none, or n reads v for another
// purpose.
static const Op *gates(const Node *n, ValueId v)
{
    const Op *act = NULL;
    Slot slot[MAX_SLOTS];
    int slots =
        kernel_slots(kernel_operands(n->op, n->kernel), slot, MAX_SLOTS);
    for (int k = 0; k < n->operand_count; k++) {
        if (n->operands[k] != v) continue;
        const Slot *s = slot_at(slot, slots, k);
        if (!s->loads) return NULL;
        bool masks = slot_is(s, "mask");
        bool is_own = n->op->flags & ACT && n->kernel == 1 && k == 1;
        if (!masks && !is_own) return NULL;
        act = masks ? n->act : n->op;
    }
    return act != NULL && act->flags & GATES ? act : NULL;
}

// True if another launch makes a value of at least a quarter of v's bytes while
// the bits are kept.  This is after the last forward reader of v and before the
// first backward reader of `gate`, which is v or a gate of it.
static bool outlasts_others(const Graph *g, const Uses *uses, ValueId v,
                            ValueId gate)
{
    NodeId last = NONE, first = g->node_count;
    for (int32_t i = uses->start[v]; i < uses->start[v + 1]; i++) {
        NodeId reader = uses->list[i];
        if (g->nodes[reader].phase == FORWARD && reader > last) last = reader;
    }
    for (int32_t i = uses->start[gate]; i < uses->start[gate + 1]; i++) {
        NodeId reader = uses->list[i];
        if (reader < first && g->nodes[reader].phase != FORWARD) first = reader;
    }
    for (NodeId i = last + 1; i < first; i++) {
        const Node *n = &g->nodes[i];
        if (is_launch(n) && n->result_count > 0 && n->results[0] != NONE &&
            value_bytes(&g->values[n->results[0]]) >=
                value_bytes(&g->values[v]) / 4)
            return true;
    }
    return false;
}

// Returns the activation by which all backward readers of v use its signs; NULL
// if there is none, or a reader needs more than signs.
static const Op *only_gated(const Graph *g, const Uses *uses, ValueId v)
{
    const Op *act = NULL;
    for (int32_t i = uses->start[v]; i < uses->start[v + 1]; i++) {
        const Node *n = &g->nodes[uses->list[i]];
        if (n->fused_load || n->op->flags & VIEW ||
            n->op->kernels[n->kernel].slice)
            return NULL;
        if (n->phase == FORWARD) continue;
        const Op *of = gates(n, v);
        if (of == NULL || (act != NULL && of != act)) return NULL;
        act = of;
    }
    return act;
}

// True if a backward node reads v, or a value that its readers compute from v
// on load; gates do not count.  Views and slices of v count.
static bool is_kept(const Graph *g, const Uses *uses, ValueId v)
{
    for (int32_t i = uses->start[v]; i < uses->start[v + 1]; i++) {
        const Node *n = &g->nodes[uses->list[i]];
        if (is_gate(n)) continue;
        if (n->phase != FORWARD || n->op->flags & VIEW ||
            n->op->kernels[n->kernel].slice ||
            (n->fused_load && is_kept(g, uses, n->results[0])))
            return true;
    }
    return false;
}

// Returns the value whose lifetime ends if the bits of v are kept: v, or the
// operand of the gate that makes v.  NONE: the bits end none.
static ValueId value_of_bits(const Graph *g, const Uses *uses, ValueId v)
{
    NodeId def = g->values[v].def;
    if (def == NONE) return NONE;
    bool of_gate = is_gate(&g->nodes[def]) && g->nodes[def].fused_load;
    ValueId from = of_gate ? g->nodes[def].operands[QUANTIZED_X] : v;
    def = g->values[from].def;
    return def != NONE && g->nodes[def].phase == FORWARD &&
                   !g->values[from].output && is_stored(g, from) &&
                   !(of_gate && is_kept(g, uses, from))
               ? from : NONE;
}

// The nodes of the graph in a new order.
typedef struct Order {
    Node   *nodes;
    int32_t count;
} Order;

static ValueId new_value(Graph *g, ValueId v, const char *suffix, Kind kind,
                         DType dtype, Shape shape)
{
    const Value of = g->values[v];
    return graph_value(g, arena_print(g->arena, "%s.%s", of.name, suffix),
                       kind, dtype, shape, of.pos);
}

// Makes both nodes for v, at the end of the graph; the caller moves them.
static void make_nodes(Graph *g, ValueId v, const Op *act, ValueId *instead)
{
    const Op *op = ops[OP_signs];
    const Value of = g->values[v];
    ValueId operands[] = { v };
    const Node like = { .op = op, .operands = operands, .operand_count = 1 };
    ValueId bits = new_value(g, v, op->name, MASK, U8, op->shape(g, &like));
    *instead = new_value(g, v, "passes", ACTIVATION, of.dtype, of.shape);
    NodeId made = graph_node(g, op, 0, FORWARD, g->values[bits].name, of.pos,
                             1, &v, 1, &bits);
    g->nodes[made].act = act;
    NodeId read = graph_node(g, op, 1, BACKWARD, g->values[*instead].name,
                             of.pos, 1, &bits, 1, instead);
    g->nodes[read].fused_load = true;
}

static void read_instead(Graph *g, const Uses *uses, ValueId v, ValueId instead)
{
    for (int32_t i = uses->start[v]; i < uses->start[v + 1]; i++) {
        Node *n = &g->nodes[uses->list[i]];
        for (int32_t k = 0; k < n->operand_count && n->phase != FORWARD; k++)
            if (n->operands[k] == v) n->operands[k] = instead;
    }
}

static void put(Graph *g, Order *order, const Node *n)
{
    for (int32_t r = 0; r < n->result_count; r++)
        if (n->results[r] != NONE)
            g->values[n->results[r]].def = order->count;
    order->nodes[order->count++] = *n;
}

// Returns the gate whose bits node k keeps, or NONE.
static NodeId gate_of(const Graph *g, NodeId k)
{
    NodeId maker = g->values[g->nodes[k].operands[0]].def;
    return is_gate(&g->nodes[maker]) ? maker : NONE;
}

// Returns a linked list for each old node: the new nodes that keep signs of its
// result, or of the gate computed from it.
static NodeId *list_signs(const Graph *g, int32_t old)
{
    NodeId *next = NEW_ARRAY(g->arena, g->node_count, NodeId);
    for (NodeId i = 0; i < old; i++) next[i] = NONE;
    for (NodeId k = g->node_count - 2; k >= old; k -= 2) {
        NodeId gate = gate_of(g, k);
        ValueId v = g->nodes[gate != NONE ? gate : k].operands[0];
        NodeId maker = g->values[v].def;
        next[k] = next[maker];
        next[maker] = k;
    }
    return next;
}

// Moves the new nodes, pairs from index `old` on.  The signs come directly
// after the maker of their operand, with a gate between them, the readers of
// signs before all other backward nodes.
static void sort_nodes(Graph *g, int32_t old)
{
    Order order = {.nodes = NEW_ARRAY(g->arena, g->node_count, Node)};
    const NodeId *next = list_signs(g, old);
    NodeId *gates = NEW_ARRAY(g->arena, g->node_count, NodeId);
    Node *nodes = g->nodes;
    for (NodeId k = old; k < g->node_count; k += 2) {
        gates[k] = gate_of(g, k);
        if (gates[k] != NONE) nodes[gates[k]].phase = FORWARD;
    }
    bool forward = true;
    for (NodeId i = 0; i < old; i++) {
        if (forward && nodes[i].phase != FORWARD) {
            for (NodeId k = old + 1; k < g->node_count; k += 2)
                put(g, &order, &nodes[k]);
            forward = false;
        }
        if (is_gate(&nodes[i]) && nodes[i].phase == FORWARD) continue;
        put(g, &order, &nodes[i]);
        for (NodeId k = next[i]; k != NONE; k = next[k]) {
            if (gates[k] != NONE) put(g, &order, &nodes[gates[k]]);
            put(g, &order, &nodes[k]);
        }
    }
    if (order.count != g->node_count) bug("sign_bits: a node is lost");
    memcpy(g->nodes, order.nodes, (size_t)order.count * sizeof(Node));
}

void pass_sign_bits(Graph *g, const PassOptions *o)
{
    (void)o;
    enum { LEAST = 4096 };      // bytes: smaller maps save nothing in the arena
    if (g->mode != TRAIN) return;
    const Uses uses = graph_uses(g);
    int32_t old = g->node_count, values = g->value_count;
    for (ValueId v = 0; v < values; v++) {
        ValueId from = value_of_bits(g, &uses, v), instead;
        if (from == NONE || value_bytes(&g->values[from]) < LEAST) continue;
        const Op *act = only_gated(g, &uses, v);
        if (act == NULL || !outlasts_others(g, &uses, from, v)) continue;
        make_nodes(g, v, act, &instead);
        read_instead(g, &uses, v, instead);
    }
    if (g->node_count > old) sort_nodes(g, old);
}
