// Checks types: real values have the net's type; maps and weights may have 16
// bits if the net says so and kernels support it; doubles, integers and bytes
// are made only by operators and passes, and are no layer's result.
#include <inttypes.h>
#include "../dtype.h"
#include "verify.h"

// Only maps may have 16 bits, and weights in a file that only infers.
static void check_half(const Check *c, ValueId id)
{
    const Graph *g = c->g;
    const Value *value = &g->values[id];
    bool made = value->kind == ACTIVATION ||
                (value->kind == GRADIENT &&
                 (value->gradient_of == NONE ||
                  !g->values[value->gradient_of].persistent));
    if (value->kind == PARAM && value->shape.rank >= 2 &&
        value->dtype == g->weight)
        return;
    if (g->calibrates && value->dtype == g->real) return;
    bool is_map = value->scale == NONE ? value->dtype == g->map : g->map == I8;
    if (!is_map || value->persistent || value->output || !made)
        value_fault(c, id, "it is %s, as only maps and weights may be, where "
                    "the net says so", dtype_names[value->dtype]);
}

// A map has one scale, and a weight that of each row.
static void check_scale(const Check *c, ValueId id)
{
    const Graph *g = c->g;
    const Value *value = &g->values[id];
    // A program that calibrates measures maps of reals.
    if (value->scale == NONE || (g->calibrates && value->dtype == g->real))
        return;
    const Value *scale = &g->values[value->scale];
    int64_t wanted = value->kind == PARAM ? value->shape.dim[0] : 1;
    if (value->dtype != U8 && value->dtype != I8)
        value_fault(c, id, "it is %s, and has a scale, as only u8 and i8 may",
                    dtype_names[value->dtype]);
    if (scale->kind != STATISTIC || scale->dtype != g->real ||
        scale->shape.rank != 1 || scale->shape.dim[0] != wanted)
        value_fault(c, id, "its scale should be a statistic %s[%" PRId64
                    "], and is %s", dtype_names[g->real], wanted,
                    scale->name);
}

void check_type(const Check *c, ValueId id)
{
    const Graph *g = c->g;
    const Value *value = &g->values[id];

    check_scale(c, id);
    if (is_half(value->dtype) || value->scale != NONE)
        check_half(c, id);
    else if (value->dtype != g->real &&
             (value->kind == PARAM ||
              (has_reals(value) &&
               (value->kind == INPUT || value->kind == ACTIVATION))))
        value_fault(c, id, "it is %s in a net of %s", dtype_names[value->dtype],
                    dtype_names[g->real]);
}

// A view keeps its operand's type.  All other values that lead to losses are
// real, as gradients are, except slices of integers.  With gradients, passes
// may insert masks.
static void check_result_type(const Check *c, NodeId id)
{
    const Graph *g = c->g;
    const Node *n = &g->nodes[id];
    if (n->kernel != 0 || n->result_count == 0 || n->results[0] == NONE) return;
    const Value *result = &g->values[n->results[0]];
    bool is_mask = result->kind == MASK && (g->facts & HAS_GRADIENTS) != 0;
    bool keeps_type = n->operand_count > 0 && n->operands[0] != NONE &&
                      result->dtype == g->values[n->operands[0]].dtype;

    if (n->op->flags & VIEW && !keeps_type)
        node_fault(c, id, "%s is a view of another type", result->name);
    if (n->phase < BACKWARD && !has_reals(result) && !keeps_type &&
        !is_mask)
        node_fault(c, id, "%s should be of real numbers, but is %s",
                   result->name, dtype_names[result->dtype]);
}

// Operands are real, unless the kernel accepts bytes and integers.  With
// gradients, a mask may replace a map.
static void check_operand_types(const Check *c, NodeId id)
{
    const Graph *g = c->g;
    const Node *n = &g->nodes[id];
    if (n->phase >= BACKWARD) return;
    Slot slots[MAX_SLOTS];
    int count =
        kernel_slots(kernel_operands(n->op, n->kernel), slots, MAX_SLOTS);

    for (int k = 0; k < n->operand_count; k++) {
        const Slot *slot = slot_at(slots, count, k);
        if (n->operands[k] == NONE || !slot->typed || slot->integers) continue;
        const Value *x = &g->values[n->operands[k]];
        if (!has_reals(x))
            node_fault(c, id, "%s is %s, and %s needs real numbers", x->name,
                       dtype_names[x->dtype], n->op->name);
    }
}

void check_types(const Check *c, NodeId id)
{
    const Graph *g = c->g;
    const Node *n = &g->nodes[id];

    check_result_type(c, id);
    check_operand_types(c, id);
    if (g->map == g->real) return;
    for (int k = 0; k < n->operand_count + n->result_count; k++) {
        ValueId v = k < n->operand_count ? n->operands[k]
                                         : n->results[k - n->operand_count];
        if (v == NONE || n->op->flags & (VIEW | COPIES)) continue;
        if ((is_half(g->values[v].dtype) && !takes_half(n, v)) ||
            (g->values[v].scale != NONE && !takes_scaled(n, v)))
            node_fault(c, id, "%s is %s, which this can't take",
                       g->values[v].name, dtype_names[g->values[v].dtype]);
    }
}
