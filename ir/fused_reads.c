// The values that a launch reads.  An inlined node has no launch, and its
// result has no bytes: each reader computes the result on load (prologue
// fusion).
//
//   %5 y = batchnorm(%4 x, weight, ...) act=relu fused_load
//   %6 z = conv(%5, %2)                  reads %4, weight, ... and %2
//
// The reads of an inlined result are the reads of its node, through any number
// of inlined nodes.
#include "op/op.h"

bool is_launch(const Node *n)
{
    return !(n->op->flags & VIEW) && !n->in_place && !n->fused_load;
}

bool is_stored(const Graph *g, ValueId v)
{
    NodeId def = g->values[v].def;
    return def == NONE || !g->nodes[def].fused_load;
}

// The values found so far; each once.
typedef struct Found {
    ValueId *reads;
    int      count;
} Found;

static void add_read(const Node *n, ValueId v, Found *found)
{
    int i = 0;
    while (i < found->count && found->reads[i] != v) i++;
    if (v == NONE || i < found->count) return;
    if (found->count == MAX_READS)
        bug("%s reads more than %d values", n->name, MAX_READS);
    found->reads[found->count++] = v;
}

static void find_reads(const Graph *g, const Node *n, Found *found)
{
    for (int32_t k = 0; k < n->operand_count; k++) {
        ValueId v = n->operands[k];
        if (v == NONE) continue;
        if (!is_stored(g, v)) {
            find_reads(g, &g->nodes[g->values[v].def], found);
            continue;
        }
        add_read(n, v, found);
        add_read(n, g->values[v].scale, found);
    }
}

int nodes_on_load(const Graph *g, const Node *n, int most)
{
    int count = 1;
    for (int32_t k = 0; k < n->operand_count && count <= most; k++) {
        ValueId v = n->operands[k];
        if (v == NONE || is_stored(g, v)) continue;
        count += nodes_on_load(g, &g->nodes[g->values[v].def], most - count);
    }
    return count <= most ? count : most + 1;
}

// The paths by which a value is read: all, and those element by element.
typedef struct Ways {
    int count, over;
} Ways;

// Adds the paths by which n reads v.  over: the result of n is itself read
// element by element.
static void find_ways(const Graph *g, const Node *n, int r, ValueId v,
                      bool over, Ways *ways)
{
    int64_t count = elements(g->values[n->results[r]].shape);
    for (int32_t k = 0; k < n->operand_count; k++) {
        ValueId u = n->operands[k];
        if (u == NONE || (u != v && is_stored(g, u))) continue;
        bool still = over && may_write_over(n, r, k) &&
                     elements(g->values[u].shape) == count;
        if (u != v) {
            find_ways(g, &g->nodes[g->values[u].def], 0, v, still, ways);
            continue;
        }
        ways->count++;
        ways->over += still;
    }
}

bool may_lie_over(const Graph *g, const Node *n, int r, ValueId v)
{
    Ways ways = { 0 };
    find_ways(g, n, r, v, true, &ways);
    return ways.count > 0 && ways.over == ways.count;
}

int node_loads(const Graph *g, const Node *n, ValueId loads[MAX_READS])
{
    Found found = { .reads = loads };
    for (int32_t k = 0; k < n->operand_count && !n->fused_load; k++) {
        ValueId v = n->operands[k];
        if (v != NONE && !is_stored(g, v))
            find_reads(g, &g->nodes[g->values[v].def], &found);
    }
    return found.count;
}

int node_reads(const Graph *g, const Node *n, ValueId reads[MAX_READS])
{
    Found found = { .reads = reads };
    if (n->fused_load) return 0;
    find_reads(g, n, &found);
    for (int32_t k = 0; k < n->result_count; k++)
        if (n->results[k] != NONE)
            add_read(n, g->values[n->results[k]].scale, &found);
    return found.count;
}
