// liveness: the first and the last node of each value's life.
//
//   0  conv1   = conv image conv1.weight      image 0..2  conv1 0..1
//   1  relu1   = relu conv1                   relu1 1..2
//   2  d.conv1.weight = conv.wgrad d.relu1 image
//
// A value lives from the node that makes it to the last that reads it; one that
// nobody reads lives at its own node alone.  An input lives from the first node
// on, since it is staged before any runs; what is persistent lives throughout;
// an output lives to the end.  What is computed on load is read by nobody: its
// readers read what it is computed from.  Nodes that are one launch read until
// the last of them has, and what they make lives as long; where that does
// several things to the same operands and may write over them, they make all
// from the first on, so that nothing that one makes is where another reads.
// These are indices of nodes: the steps of a plan leave out what is no launch.
// What shares bytes is not known here; share widens the lives of values that
// others lie in.
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
