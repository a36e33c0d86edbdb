// What holds of maps in 16 bits: that they are maps, and that what reads or
// makes them has a type for them.
#include "number.h"
#include "verify.h"

void check_half(const Check *c, ValueId id)
{
    const Graph *g = c->g;
    const Value *value = &g->values[id];

    if (!is_half(value->dtype)) return;
    bool made = value->kind == ACTIVATION ||
                (value->kind == GRADIENT &&
                 (value->gradient_of == NONE ||
                  !g->values[value->gradient_of].persistent));
    if (value->dtype != g->map || value->persistent || value->output || !made)
        value_fault(c, id, "it is %s, as only maps may be, where the net says "
                    "so", dtype_names[value->dtype]);
}

// 16 bits are for maps, and for kernels that have a type for them.
void check_halves(const Check *c, NodeId id)
{
    const Graph *g = c->g;
    const Node *n = &g->nodes[id];

    if (g->map == g->real) return;
    for (int k = 0; k < n->operand_count + n->result_count; k++) {
        ValueId v = k < n->operand_count ? n->operands[k]
                                         : n->results[k - n->operand_count];
        if (v != NONE && is_half(g->values[v].dtype) &&
            !(n->op->flags & (VIEW | COPIES)) && !takes_half(n, v))
            node_fault(c, id, "%s is %s, which this can't take",
                       g->values[v].name, dtype_names[g->values[v].dtype]);
    }
}
