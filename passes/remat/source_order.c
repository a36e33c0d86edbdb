// A training step in source order, with updates as early as possible.
//
// Pass schedule minimizes the peak of a step that keeps all values.  It may
// delay weight gradients to the end, where their operands are alive anyway.
// With recomputed operands this is harmful: a delayed weight gradient keeps a
// gradient of a map alive, which no step recomputes.  So schedules in source
// order may have fewer bytes.
#include <string.h>
#include "../../ir/base/unique_names.h"
#include "../../ir/op/op.h"
#include "../order/dependences.h"
#include "../order/live_model.h"
#include "remat_graph.h"

typedef struct Writing {
    Graph      *g;              // a copy, whose nodes are being reordered
    Dependences depend;
    NodeId     *order;
    int32_t     count;
    bool       *done;
} Writing;

// ---- the order --------------------------------------------------------------

static void put_as_written(Graph *g)
{
    Names *names = names_new(g->arena, g->node_count);
    NodeId *order = NEW_ARRAY(g->arena, g->node_count, NodeId);
    if (g->written_count != g->node_count)
        bug("the program has %d nodes of %d", (int)g->written_count,
            (int)g->node_count);
    for (NodeId i = 0; i < g->node_count; i++)
        names_take(names, g->nodes[i].name, i);
    for (int32_t k = 0; k < g->written_count; k++) {
        const char *name = g->written[k].name;
        order[k] = names_find(names, name, strlen(name));
        if (order[k] == NONE) bug("the program's %s is lost", name);
    }
    graph_reorder(g, order);
}

// Appends node i, and the updates that only waited for it, except the node that
// closes the training step.
static void put_next(Writing *w, NodeId i)
{
    const Edge *edges = w->depend.edges;
    int32_t at = w->count;
    w->order[w->count++] = i;
    w->done[i] = true;
    for (; at < w->count; at++)
        for (int32_t k = w->depend.first[w->order[at]]; k != NONE;
             k = edges[k].next) {
            NodeId to = edges[k].to;
            if (--w->depend.needed[to] > 0 || w->done[to] ||
                w->g->nodes[w->order[at]].phase == FORWARD ||
                w->g->nodes[to].phase != UPDATE || to == w->g->node_count - 1)
                continue;
            w->order[w->count++] = to;
            w->done[to] = true;
        }
}

static void hoist_updates(Graph *g)
{
    Writing w = { .g = g };
    Lives lives = lives_new(g);
    w.depend = find_dependences(g, lives.class_of);
    w.order = NEW_ARRAY(g->arena, g->node_count, NodeId);
    w.done = NEW_ARRAY(g->arena, g->node_count, bool);
    for (NodeId i = 0; i < g->node_count; i++)
        if (!w.done[i]) put_next(&w, i);
    graph_reorder(g, w.order);
}

// ---- the problem ------------------------------------------------------------

Remat remat_as_written(Graph *g, int32_t **step)
{
    Graph *copy = graph_copy(g, g->arena);
    Names *names = names_new(g->arena, g->node_count);
    int32_t steps = 0;
    put_as_written(copy);
    hoist_updates(copy);
    for (NodeId i = 0; i < g->node_count; i++)
        if (is_launch(&g->nodes[i]))
            names_take(names, g->nodes[i].name, steps++);
    *step = NEW_ARRAY(g->arena, (size_t)steps + 1, int32_t);
    steps = 0;
    for (NodeId i = 0; i < copy->node_count; i++) {
        const char *name = copy->nodes[i].name;
        if (is_launch(&copy->nodes[i]))
            (*step)[steps++] = names_find(names, name, strlen(name));
    }
    return remat_of(copy);
}
