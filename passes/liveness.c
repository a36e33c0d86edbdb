// liveness: sets the first and the last node of each value's live range.
//
//   0  conv1   = conv image conv1.weight      image 0..2  conv1 0..1
//   1  relu1   = relu conv1                   relu1 1..2
//   2  d.conv1.weight = conv.wgrad d.relu1 image
//
// A value lives from its maker to its last reader; without readers, at its
// maker alone.  An input lives from node 0 on, since it is staged before the
// step.  A persistent value lives throughout, an output until the end.  A value
// computed on load has no life: its readers read its operands.  In a group of
// nodes that is one launch, operands and results live to the end of the group.
// If the nodes of a group read the same operands and may overwrite them, all
// results live from the group's first node on.  So none overwrites an operand.
// Lives are indices of nodes, not steps of a plan, which leaves out nodes that
// are no launch.  Sharing is unknown here: share_buffers widens the lives of
// values that have aliases.
#include "../ir/launch_group.h"
#include "pass.h"

static void begin_lives(Graph *g)
{
    int32_t end = g->node_count > 0 ? g->node_count - 1 : 0;
    for (ValueId v = 0; v < g->value_count; v++) {
        Value *value = &g->values[v];
        bool made = value->def != NONE && !value->persistent;
        value->first = made ? value->def : 0;
        value->last = value->persistent || value->output ? end : value->first;
    }
}

void pass_liveness(Graph *g, const PassOptions *o)
{
    (void)o;
    begin_lives(g);
    bool several = false;
    for (NodeId i = 0, first = 0, end = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        ValueId reads[MAX_READS];
        if (i == end) {
            first = i, end = group_end(g, i);
            several = begins_several(g, i);
        }
        NodeId last = several ? i : end - 1;
        for (int k = node_reads(g, n, reads) - 1; k >= 0; k--) {
            Value *value = &g->values[reads[k]];
            if (value->last < last) value->last = last;
        }
        for (int32_t r = 0; r < n->result_count; r++) {
            if (n->results[r] == NONE) continue;
            Value *value = &g->values[n->results[r]];
            if (several) value->first = first;
            if (value->last < end - 1) value->last = end - 1;
        }
    }
}
