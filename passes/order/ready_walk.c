// Live bytes and ready nodes at each set of a walk.
#include "ready_walk.h"

enum { SETTLED = 1 << 29 };     // the count of a settled node

static void make_ready(Walk *w, NodeId i)
{
    w->slot[i] = w->ready_count;
    w->ready[w->ready_count++] = i;
}

static void unmake_ready(Walk *w, NodeId i)
{
    NodeId last = w->ready[--w->ready_count];
    w->ready[w->slot[i]] = last;
    w->slot[last] = w->slot[i];
}

static bool is_inside(const Walk *w, NodeId i)
{
    return i >= w->region.start && i < w->region.end;
}

// Lists edges from each node to the nodes that wait for it, reversed if
// backward.
static void list_edges(Walk *w, const Dependences *d)
{
    int32_t count = w->l.g->node_count;
    for (NodeId i = 0; i < count; i++) w->first[i] = NONE;
    for (NodeId i = 0; i < count; i++)
        for (int32_t k = d->first[i]; k != NONE; k = d->edges[k].next) {
            NodeId from = w->backward ? d->edges[k].to : i;
            NodeId to = w->backward ? i : d->edges[k].to;
            w->edges[k] = (Edge){ to, w->first[from] };
            w->first[from] = k;
            w->waits[to] += is_inside(w, from) && is_inside(w, to);
        }
}

Walk walk_new(const Lives *start, const Dependences *d, Region region,
              bool backward, const NodeId *order)
{
    Arena *arena = start->g->arena;
    size_t count = (size_t)start->g->node_count;
    Walk w = { .l = lives_copy(start), .region = region, .backward = backward };
    w.first = NEW_ARRAY(arena, count, int32_t);
    w.edges = NEW_ARRAY(arena, (size_t)d->count + 1, Edge);
    w.waits = NEW_ARRAY(arena, count, int32_t);
    w.ready = NEW_ARRAY(arena, count, NodeId);
    w.slot = NEW_ARRAY(arena, count, int32_t);
    w.writers = NEW_ARRAY(arena, start->g->value_count, int32_t);
    list_edges(&w, d);
    for (NodeId i = region.start; i < region.end; i++) {
        if (w.waits[i] == 0) make_ready(&w, i);
        for (int32_t k = w.l.overs[i]; k < w.l.overs[i + 1]; k++)
            w.writers[w.l.over[k].class]++;
    }
    NodeId ran = backward ? region.end : region.start;
    for (NodeId i = 0; i < ran; i++) lives_run(&w.l, order[i]);
    return w;
}

int64_t walk_look(Walk *w, NodeId i, int64_t *live)
{
    int64_t within;
    w->work += 2;
    if (w->backward) {
        *live = lives_before(&w->l, i, &within);
        return within;
    }
    *live = lives_after(&w->l, i);
    return lives_within(&w->l, i);
}

int64_t walk_take(Walk *w, NodeId i)
{
    int64_t within = 0;
    w->work++;
    unmake_ready(w, i);
    if (!w->backward) within = lives_within(&w->l, i);
    if (w->backward) lives_take_back(&w->l, i);
    else lives_run(&w->l, i);
    if (w->backward) within = lives_within(&w->l, i);
    for (int32_t k = w->first[i]; k != NONE; k = w->edges[k].next) {
        NodeId to = w->edges[k].to;
        if (is_inside(w, to) && --w->waits[to] == 0) make_ready(w, to);
    }
    return within;
}

void walk_put_back(Walk *w, NodeId i)
{
    w->work++;
    for (int32_t k = w->first[i]; k != NONE; k = w->edges[k].next) {
        NodeId to = w->edges[k].to;
        if (is_inside(w, to) && w->waits[to]++ == 0) unmake_ready(w, to);
    }
    if (w->backward) lives_run(&w->l, i);
    else lives_take_back(&w->l, i);
    make_ready(w, i);
}

void walk_settle(Walk *w, Walk *other, NodeId i)
{
    walk_take(w, i);
    if (other->waits[i] == 0) unmake_ready(other, i);
    w->waits[i] = other->waits[i] = SETTLED;
    for (int32_t k = w->l.overs[i]; k < w->l.overs[i + 1]; k++) {
        w->writers[w->l.over[k].class]--;
        other->writers[w->l.over[k].class]--;
    }
}

bool walk_reads_writable(const Walk *w, NodeId i)
{
    for (int32_t k = w->l.reads[i]; k < w->l.reads[i + 1]; k++)
        if (w->writers[w->l.read[k]] > 0) return true;
    return false;
}
