// A lower bound of the peak of every order.
//
// While launch i runs, in any order, its operands and results are alive.  So is
// each value whose maker i waits for and one of whose readers waits for i,
// directly or not.  The largest such sum is the bound.  It is exact if one
// launch is the waist of the net, like the loss: all maps that the backward
// pass needs are alive then.
//
// No launch has a larger sum than its live bytes in a given order.  So launches
// are tried from the fullest on, until no other could raise the bound.
#include <stdlib.h>
#include <string.h>
#include "order.h"

typedef struct Bounder {
    const Lives       *l;
    const Dependences *d;
    int32_t           *first_before;    // reversed edges: the nodes that i
                                        // waits for
    Edge              *before;
    // Around launch i: 1: i waits for the node, 2: the node waits for i.
    int8_t            *side;
    NodeId            *stack;
    // By class: readers at i or after it, makers before it.
    int32_t           *needed, *made;
} Bounder;

enum { BEFORE = 1, AFTER = 2 };

static void turn_edges(Bounder *b)
{
    Arena *arena = b->l->g->arena;
    int32_t count = b->l->g->node_count;
    b->first_before = NEW_ARRAY(arena, count, int32_t);
    b->before = NEW_ARRAY(arena, (size_t)b->d->count + 1, Edge);
    for (NodeId i = 0; i < count; i++) b->first_before[i] = NONE;
    for (NodeId i = 0; i < count; i++)
        for (int32_t k = b->d->first[i]; k != NONE; k = b->d->edges[k].next) {
            NodeId to = b->d->edges[k].to;
            b->before[k] = (Edge){ i, b->first_before[to] };
            b->first_before[to] = k;
        }
}

// Marks all nodes that can be reached from i.
static void mark(Bounder *b, NodeId i, const int32_t *first, const Edge *edges,
                 int8_t side)
{
    int32_t count = 0;
    b->stack[count++] = i;
    while (count > 0) {
        NodeId from = b->stack[--count];
        for (int32_t k = first[from]; k != NONE; k = edges[k].next) {
            if (b->side[edges[k].to]) continue;
            b->side[edges[k].to] = side;
            b->stack[count++] = edges[k].to;
        }
    }
}

// Marks both sides of i.  Nodes before `middle` run before all others.
static void mark_sides(Bounder *b, NodeId i, NodeId middle)
{
    int32_t count = b->l->g->node_count;
    memset(b->side, 0, (size_t)count);
    mark(b, i, b->first_before, b->before, BEFORE);
    mark(b, i, b->d->first, b->d->edges, AFTER);
    if (i < middle)
        for (NodeId j = middle; j < count; j++) b->side[j] = AFTER;
    else
        for (NodeId j = 0; j < middle; j++) b->side[j] = BEFORE;
}

// Returns the lower bound at launch i: live are the values of nodes that must
// have run before it.  Operands that no later node must read die at i, so the
// results may overwrite them, as in some order.
static int64_t bound_at(Bounder *b, NodeId i, NodeId middle)
{
    const Graph *g = b->l->g;
    Lives l = *b->l;
    int64_t bytes = 0;
    mark_sides(b, i, middle);
    l.readers = b->needed;
    l.made = b->made;
    memset(b->needed, 0, (size_t)g->value_count * sizeof(int32_t));
    memset(b->made, 0, (size_t)g->value_count * sizeof(int32_t));
    for (NodeId j = 0; j < g->node_count; j++)
        for (int32_t k = l.reads[j]; k < l.reads[j + 1]; k++)
            b->needed[l.read[k]] += j == i || b->side[j] == AFTER;
    for (ValueId v = 0; v < g->value_count; v++) {
        NodeId def = g->values[v].def;
        b->made[l.class_of[v]] += def == NONE || (b->side[def] == BEFORE &&
                                                  is_launch(&g->nodes[def]));
    }
    for (ValueId v = 0; v < g->value_count; v++)
        if (b->made[v] > 0 && (l.kept[v] || b->needed[v] > 0))
            bytes += l.bytes[v];
    l.live = bytes;
    return lives_within(&l, i);
}

typedef struct Fullness {
    int64_t bytes;
    NodeId  node;
} Fullness;

static int compare_fullness(const void *a, const void *b)
{
    const Fullness *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->node < y->node ? -1 : 1;
}

static Fullness *by_fullness(const Lives *start, const NodeId *order)
{
    const Graph *g = start->g;
    Fullness *full = NEW_ARRAY(g->arena, g->node_count, Fullness);
    Lives l = lives_copy(start);
    for (int32_t i = 0; i < g->node_count; i++) {
        full[i] = (Fullness){ lives_within(&l, order[i]), order[i] };
        lives_run(&l, order[i]);
    }
    qsort(full, (size_t)g->node_count, sizeof *full, compare_fullness);
    return full;
}

int64_t order_bound(const Lives *start, const Dependences *d, NodeId middle,
                    const NodeId *order)
{
    // Nodes, values and edges visited.  Schedules are many.
    const int64_t work = start->g->decisions.remat_schedule != NULL ? 1 << 24
                                                                    : 1 << 27;
    const Graph *g = start->g;
    Bounder b = { .l = start, .d = d };
    b.side = NEW_ARRAY(g->arena, (size_t)g->node_count, int8_t);
    b.stack = NEW_ARRAY(g->arena, (size_t)g->node_count, NodeId);
    b.needed = NEW_ARRAY(g->arena, (size_t)g->value_count, int32_t);
    b.made = NEW_ARRAY(g->arena, (size_t)g->value_count, int32_t);
    turn_edges(&b);
    const Fullness *full = by_fullness(start, order);
    int64_t bound = start->live;
    int64_t cost = (int64_t)g->node_count + g->value_count + d->count;
    for (int32_t i = 0; i < g->node_count; i++) {
        if (full[i].bytes <= bound || i * cost > work) break;
        int64_t at = is_launch(&g->nodes[full[i].node])
                         ? bound_at(&b, full[i].node, middle) : 0;
        if (at > bound) bound = at;
    }
    return bound;
}
