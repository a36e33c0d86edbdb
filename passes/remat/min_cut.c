// Minimum cuts by preflow-push.
//
// Source saturates its arcs.  A node with an excess, more flow in than out,
// pushes it along arcs with room to nodes that are one lower; lower is nearer
// to sink.  A node that can push nowhere is lifted.  The highest node with an
// excess is always next.  Excess that can't reach sink need not return to
// source.  The cut is known without that: it separates the nodes that reach
// sink over arcs with room from the others.
//
// Heights are exact distances to sink at the start.  They are recomputed
// whenever the work since then equals that of computing them.  When a height
// has no node left, all higher nodes are cut off (the gap heuristic).
#include "min_cut.h"
#include <string.h>

// An arc with room takes flow; its twin leads back and cancels flow.
typedef struct Arc {
    int32_t to, twin;           // twin: its place in Flow.arc
    int64_t room;
} Arc;

typedef struct Ends {
    int32_t from, to;
    int64_t capacity;
} Ends;

enum { NOBODY = -1 };

struct Flow {
    Arena   *arena;
    int32_t  node_count, end_count, end_capacity;
    Ends    *ends;              // the arcs as they were given
    // Node i has arc[first[i]] to before arc[first[i + 1]]; place[k] is the
    // index of the k-th arc of `ends`.
    int32_t *first, *place;
    Arc     *arc;               // NULL before the first cut
    int32_t  source, sink;
    int64_t *excess;
    int32_t *height;            // node_count: sink is unreachable
    int32_t *current;           // the next arc to try
    // Doubly linked lists of the nodes at each height below node_count; singly
    // linked lists of those with an excess.
    int32_t *at, *next, *before, *full, *next_full;
    int32_t  highest, highest_full;
    int32_t *queue;
    int64_t  work;              // since heights were exact
};

Flow *flow_new(Arena *arena, int32_t node_count)
{
    Flow *f = NEW(arena, Flow);
    f->arena = arena;
    f->node_count = node_count;
    return f;
}

int32_t flow_arc(Flow *f, int32_t from, int32_t to)
{
    f->ends = arena_grow(f->arena, f->ends, &f->end_capacity,
                         (int64_t)f->end_count + 1, sizeof *f->ends);
    f->ends[f->end_count] = (Ends){from, to, 0};
    return f->end_count++;
}

void flow_set(Flow *f, int32_t arc, int64_t capacity)
{
    f->ends[arc].capacity = capacity;
}

// ---- arcs by node -----------------------------------------------------------

static int32_t *new_numbers(Flow *f)
{
    return NEW_ARRAY(f->arena, (size_t)f->node_count + 2, int32_t);
}

static void place_arcs(Flow *f)
{
    f->first = new_numbers(f);
    f->place = NEW_ARRAY(f->arena, (size_t)f->end_count + 1, int32_t);
    f->arc = NEW_ARRAY(f->arena, 2 * (size_t)f->end_count + 1, Arc);
    int32_t *free = new_numbers(f);
    for (int32_t k = 0; k < f->end_count; k++) {
        f->first[f->ends[k].from + 1]++;
        f->first[f->ends[k].to + 1]++;
    }
    for (int32_t i = 0; i < f->node_count; i++)
        free[i + 1] = f->first[i + 1] += f->first[i];
    for (int32_t k = 0; k < f->end_count; k++) {
        int32_t there = free[f->ends[k].from]++;
        int32_t back = free[f->ends[k].to]++;
        f->arc[there] = (Arc){f->ends[k].to, back, 0};
        f->arc[back] = (Arc){f->ends[k].from, there, 0};
        f->place[k] = there;
    }
}

static void prepare(Flow *f)
{
    place_arcs(f);
    f->excess = NEW_ARRAY(f->arena, (size_t)f->node_count + 1, int64_t);
    f->height = new_numbers(f);
    f->current = new_numbers(f);
    f->at = new_numbers(f);
    f->next = new_numbers(f);
    f->before = new_numbers(f);
    f->full = new_numbers(f);
    f->next_full = new_numbers(f);
    f->queue = new_numbers(f);
}

// ---- heights ----------------------------------------------------------------

static void list_node(Flow *f, int32_t i)
{
    int32_t *at = &f->at[f->height[i]];
    f->next[i] = *at;
    f->before[i] = NOBODY;
    if (*at != NOBODY) f->before[*at] = i;
    *at = i;
    if (f->height[i] > f->highest) f->highest = f->height[i];
}

static void unlist_node(Flow *f, int32_t i)
{
    if (f->before[i] != NOBODY)
        f->next[f->before[i]] = f->next[i];
    else
        f->at[f->height[i]] = f->next[i];
    if (f->next[i] != NOBODY) f->before[f->next[i]] = f->before[i];
}

static void list_full(Flow *f, int32_t i)
{
    f->next_full[i] = f->full[f->height[i]];
    f->full[f->height[i]] = i;
    if (f->height[i] > f->highest_full) f->highest_full = f->height[i];
}

// Sets each node's distance to sink over arcs with room.
static void measure_heights(Flow *f)
{
    int32_t count = 0, found = 0;
    for (int32_t i = 0; i < f->node_count; i++) f->height[i] = f->node_count;
    f->height[f->sink] = 0;
    f->queue[count++] = f->sink;
    while (found < count) {
        int32_t i = f->queue[found++];
        for (int32_t k = f->first[i]; k < f->first[i + 1]; k++) {
            const Arc *arc = &f->arc[k];
            if (f->height[arc->to] < f->node_count ||
                f->arc[arc->twin].room == 0)
                continue;
            f->height[arc->to] = f->height[i] + 1;
            f->queue[count++] = arc->to;
        }
    }
    f->work = 0;
}

static void begin_heights(Flow *f)
{
    measure_heights(f);
    f->highest = f->highest_full = 0;
    for (int32_t h = 0; h <= f->node_count; h++)
        f->at[h] = f->full[h] = NOBODY;
    for (int32_t i = 0; i < f->node_count; i++) {
        f->current[i] = f->first[i];
        if (f->height[i] == f->node_count || i == f->sink) continue;
        list_node(f, i);
        if (f->excess[i] > 0) list_full(f, i);
    }
}

// No node is left at this height, so higher nodes can't reach sink.
static void cut_off(Flow *f, int32_t height)
{
    for (int32_t h = height + 1; h <= f->highest; h++) {
        for (int32_t i = f->at[h]; i != NOBODY; i = f->next[i])
            f->height[i] = f->node_count;
        f->at[h] = f->full[h] = NOBODY;
    }
    f->highest = height - 1;
    if (f->highest_full > f->highest) f->highest_full = f->highest;
}

// Lifts node i to one above its lowest neighbour over an arc with room.
static void lift(Flow *f, int32_t i)
{
    int32_t lowest = f->node_count, old = f->height[i];
    for (int32_t k = f->first[i]; k < f->first[i + 1]; k++) {
        const Arc *arc = &f->arc[k];
        if (arc->room == 0 || f->height[arc->to] >= lowest) continue;
        lowest = f->height[arc->to];
        f->current[i] = k;
    }
    f->work += f->first[i + 1] - f->first[i] + 4;
    unlist_node(f, i);
    f->height[i] = lowest + 1 < f->node_count ? lowest + 1 : f->node_count;
    if (f->height[i] < f->node_count) list_node(f, i);
    if (f->at[old] == NOBODY) {
        // It was the last node at its height, and it is higher now.
        if (f->height[i] > old) cut_off(f, old);
    }
}

// ---- pushing ----------------------------------------------------------------

static void push(Flow *f, int32_t i, Arc *arc)
{
    int64_t much = f->excess[i] < arc->room ? f->excess[i] : arc->room;
    bool was_full = f->excess[arc->to] > 0;
    arc->room -= much;
    f->arc[arc->twin].room += much;
    f->excess[i] -= much;
    f->excess[arc->to] += much;
    if (!was_full && arc->to != f->sink) list_full(f, arc->to);
}

static void empty_node(Flow *f, int32_t i)
{
    while (f->excess[i] > 0 && f->height[i] < f->node_count) {
        Arc *arc = &f->arc[f->current[i]];
        if (f->current[i] == f->first[i + 1])
            lift(f, i);
        else if (arc->room > 0 && f->height[arc->to] + 1 == f->height[i])
            push(f, i, arc);
        else
            f->current[i]++;
    }
}

// Saturates the arcs of source.  They never have room again: source has the
// maximum height, so no node pushes back to it.
static void fill_from_source(Flow *f)
{
    for (int32_t k = 0; k < f->end_count; k++) {
        Arc *arc = &f->arc[f->place[k]];
        arc->room = f->ends[k].capacity;
        f->arc[arc->twin].room = 0;
    }
    memset(f->excess, 0, (size_t)f->node_count * sizeof *f->excess);
    for (int32_t k = f->first[f->source]; k < f->first[f->source + 1]; k++) {
        Arc *arc = &f->arc[k];
        f->excess[arc->to] += arc->room;
        f->arc[arc->twin].room += arc->room;
        arc->room = 0;
    }
}

int64_t flow_cut(Flow *f, int32_t source, int32_t sink, bool *near)
{
    if (f->arc == NULL) prepare(f);
    f->source = source;
    f->sink = sink;
    fill_from_source(f);
    begin_heights(f);
    while (f->highest_full > 0) {
        int32_t i = f->full[f->highest_full];
        if (i == NOBODY) {
            f->highest_full--;
            continue;
        }
        f->full[f->highest_full] = f->next_full[i];
        empty_node(f, i);
        if (f->work > 4 * (int64_t)f->node_count + 2 * (int64_t)f->end_count)
            begin_heights(f);
    }
    measure_heights(f);
    for (int32_t i = 0; i < f->node_count; i++)
        near[i] = f->height[i] == f->node_count;
    return f->excess[sink];
}
