// Nodes in another order.
#include "ir.h"

void graph_reorder(Graph *g, const NodeId *order)
{
    Node *nodes = NEW_ARRAY(g->arena, g->node_count, Node);

    for (NodeId i = 0; i < g->node_count; i++) {
        nodes[i] = g->nodes[order[i]];
        for (int32_t r = 0; r < nodes[i].result_count; r++)
            if (nodes[i].results[r] != NONE)
                g->values[nodes[i].results[r]].def = i;
    }
    g->nodes = nodes;
    g->node_capacity = g->node_count;
}
