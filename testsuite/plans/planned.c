// Rebuilds the graph that a pass would have made for another plan.
#include <setjmp.h>
#include <string.h>
#include "../../ir/base/unique_names.h"
#include "../../ir/verify/verify.h"
#include "../../ir/gpu/offload.h"
#include "spoil.h"

static Names *name_nodes(Arena *arena, const Graph *g)
{
    Names *names = names_new(arena, 0);
    for (NodeId i = 0; i < g->node_count; i++)
        names_take(names, g->nodes[i].name, i);
    return names;
}

static Graph *copy_graph(Arena *arena, const Graph *g, size_t room)
{
    Graph *copy = NEW(arena, Graph);
    size_t count = (size_t)g->node_count;
    *copy = *g;
    copy->arena = arena;
    copy->nodes = NEW_ARRAY(arena, count + room, Node);
    copy->values = NEW_ARRAY(arena, g->value_count, Value);
    memcpy(copy->nodes, g->nodes, count * sizeof *g->nodes);
    memcpy(copy->values, g->values, (size_t)g->value_count * sizeof(Value));
    return copy;
}

const Plan *plan_apart(const Graph *g)
{
    Graph *copy = copy_graph(g->arena, g, 0);
    for (NodeId i = 0; i < g->node_count; i++) copy->nodes[i].grouped = false;
    return plan_of(copy);
}

static void set_grouped(Graph *g, const Names *names, const char *name,
                       bool grouped)
{
    NodeId i = names_find(names, name, strlen(name));
    if (i != NONE) g->nodes[i].grouped = grouped;
}

const Graph *grouped_as(Arena *arena, const Graph *g, const Plan *plan)
{
    Graph *copy = copy_graph(arena, g, 0);
    const Names *names = name_nodes(arena, g);
    for (int i = 0; i < plan->step_count; i++) {
        const PlanStep *step = &plan->steps[i];
        set_grouped(copy, names, step->name, false);
        for (int k = 0; k < step->more_count; k++)
            set_grouped(copy, names, step->more[k], true);
    }
    return copy;
}

// The offset of a buffer in the form of passes: from its container's start.
static void place_values(Graph *g, const Plan *plan)
{
    for (ValueId v = 0; v < g->value_count; v++) {
        const PlanBuffer *buffer = &plan->buffers[v];
        Value *value = &g->values[v];
        value->alias_of = buffer->alias_of;
        value->view_rows = buffer->rows, value->view_stride = buffer->stride;
        value->offset = buffer->offset;
        if (buffer->alias_of == NONE || buffer->fused_load) continue;
        value->start = buffer->offset - plan->buffers[buffer->alias_of].offset;
    }
}

static void add_node(Graph *g, const Node *n, bool grouped)
{
    g->nodes[g->node_count] = *n;
    g->nodes[g->node_count].grouped = grouped;
    for (int r = 0; r < n->result_count; r++)
        if (n->results[r] != NONE)
            g->values[n->results[r]].def = g->node_count;
    g->node_count++;
}

static void add_launch(Graph *g, const Graph *from, const Names *names,
                       const char *name, bool grouped)
{
    NodeId i = names_find(names, name, strlen(name));
    if (i == NONE) bug("no launch is called %s", name);
    add_node(g, &from->nodes[i], grouped);
}

// Where in host memory the step's copy lies, if it is one.
static void place_copy(Graph *g, const PlanStep *step)
{
    Node *n = &g->nodes[g->node_count - 1];
    if (begins_copy(n)) n->attr[COPY_PLACE].i = step->host;
}

// Views, which are no launches, come first.
const Graph *placed_as(Arena *arena, const Graph *g, const Plan *plan)
{
    const Names *names = name_nodes(arena, g);
    size_t launches = 0;
    for (int i = 0; i < plan->step_count; i++)
        launches += 1 + (size_t)plan->steps[i].more_count;
    Graph *copy = copy_graph(arena, g, launches);
    copy->node_count = 0;
    for (NodeId i = 0; i < g->node_count; i++)
        if (!is_launch(&g->nodes[i])) add_node(copy, &g->nodes[i], false);
    for (int i = 0; i < plan->step_count; i++) {
        const PlanStep *step = &plan->steps[i];
        add_launch(copy, g, names, step->name, false);
        place_copy(copy, step);
        for (int k = 0; k < step->more_count; k++)
            add_launch(copy, g, names, step->more[k], true);
    }
    place_values(copy, plan);
    return copy;
}

bool can_be_grouped(Arena *arena, const Graph *g, const Plan *plan)
{
    Graph copy = *placed_as(arena, g, plan);
    Diag quiet = {.arena = arena, .quiet = true};
    jmp_buf refused;
    const Check check = {.g = &copy, .refuse = &refused};
    Places nowhere = {0};       // without any, a fault is cnnc's own
    copy.diag = &quiet, copy.places = &nowhere;
    if (setjmp(refused) != 0) return false;
    check_grouped(&check);
    return true;
}
