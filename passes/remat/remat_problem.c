// Makes the recomputation problem of a graph: its launches as steps, the values
// that they read, make and may overwrite, with the bytes of live_model.h.
#include <string.h>
#include "../../ir/gpu/gpu_model.h"
#include "../order/live_model.h"
#include "remat_graph.h"

typedef struct Problem {
    Graph   *g;
    Lives    lives;
    Remat    remat;
    int32_t *value_of;          // of each class; NONE: it has no bytes
    int32_t *last_maker;        // the last step that makes each value
    bool    *early;             // of each value: a part of it is read before it
                                // is complete
} Problem;

// ---- steps and values -------------------------------------------------------

static NodeId *list_launches(Problem *p)
{
    const Graph *g = p->g;
    NodeId *launches = NEW_ARRAY(g->arena, g->node_count, NodeId);
    p->remat.backward_start = NONE;
    for (NodeId i = 0; i < g->node_count; i++) {
        if (!is_launch(&g->nodes[i])) continue;
        if (p->remat.backward_start == NONE && g->nodes[i].phase != FORWARD)
            p->remat.backward_start = p->remat.step_count;
        launches[p->remat.step_count++] = i;
    }
    if (p->remat.backward_start == NONE)
        p->remat.backward_start = p->remat.step_count;
    return launches;
}

// True if v is the workspace of a launch that makes its sums once: it is part
// of no schedule.
static bool is_scratch(const Graph *g, ValueId v)
{
    NodeId def = g->values[v].def;
    return def != NONE && g->values[v].kind == WORKSPACE &&
           made_once(&g->nodes[def], v);
}

static void list_values(Problem *p)
{
    const Graph *g = p->g;
    Remat *r = &p->remat;
    p->value_of = NEW_ARRAY(g->arena, g->value_count, int32_t);
    r->bytes = NEW_ARRAY(g->arena, g->value_count, int64_t);
    r->kept = NEW_ARRAY(g->arena, g->value_count, bool);
    for (ValueId v = 0; v < g->value_count; v++) {
        p->value_of[v] = NONE;
        if (p->lives.class_of[v] != v || p->lives.bytes[v] == 0 ||
            is_scratch(g, v))
            continue;
        r->bytes[r->value_count] = p->lives.bytes[v];
        r->kept[r->value_count] = p->lives.kept[v];
        p->value_of[v] = r->value_count++;
    }
}

// ---- operands and results ---------------------------------------------------

// Lists the values that a launch makes whenever it runs, each once; returns
// their number.  Others, made once, count as given.
static int list_made(const Problem *p, const Node *n, int32_t *made)
{
    int count = 0, results;
    kernel_again(n, &results);
    for (int32_t k = 0; k < results; k++) {
        if (n->results[k] == NONE) continue;
        int32_t v = p->value_of[p->lives.class_of[n->results[k]]];
        int j = 0;
        while (j < count && made[j] != v) j++;
        if (v != NONE && j == count) made[count++] = v;
    }
    return count;
}

static bool is_maker(const Problem *p, const NodeId *launches, int32_t step,
                     int32_t v)
{
    int32_t made[MAX_SLOTS];
    int count = list_made(p, &p->g->nodes[launches[step]], made);
    while (count > 0 && made[count - 1] != v) count--;
    return count > 0;
}

// A joined map may be read while it is made, as in a densenet.  Then its first
// maker is said to make all of it, and its other makers to read it.
static void find_early(Problem *p, const NodeId *launches)
{
    const Lives *l = &p->lives;
    for (int32_t i = 0; i < p->remat.step_count; i++) {
        int32_t made[MAX_SLOTS];
        int count = list_made(p, &p->g->nodes[launches[i]], made);
        for (int k = 0; k < count; k++) p->last_maker[made[k]] = i;
    }
    for (int32_t i = 0; i < p->remat.step_count; i++) {
        NodeId id = launches[i];
        for (int32_t k = l->reads[id]; k < l->reads[id + 1]; k++) {
            int32_t v = p->value_of[l->read[k]];
            if (v != NONE && p->last_maker[v] >= i) p->early[v] = true;
        }
    }
}

// A growing list of lists: list k is item[start[k]] to before item[start[k +
// 1]].
typedef struct Lists {
    Arena   *arena;
    int32_t *start, *item;
    int32_t  count, capacity;
} Lists;

static Lists new_lists(const Problem *p, int32_t count)
{
    return (Lists){ .arena = p->g->arena,
                    .start = NEW_ARRAY(p->g->arena, count + 1, int32_t) };
}

static void append(Lists *lists, int32_t item)
{
    lists->item = arena_grow(lists->arena, lists->item, &lists->capacity,
                             (int64_t)lists->count + 1, sizeof(int32_t));
    lists->item[lists->count++] = item;
}

static void list_reads(Problem *p, const NodeId *launches)
{
    const Lives *l = &p->lives;
    Remat *r = &p->remat;
    Lists reads = new_lists(p, r->step_count);
    bool *begun = NEW_ARRAY(p->g->arena, r->value_count, bool);
    for (int32_t i = 0; i < r->step_count; i++) {
        NodeId id = launches[i];
        int32_t made[MAX_SLOTS];
        int count = list_made(p, &p->g->nodes[id], made);
        reads.start[i] = reads.count;
        for (int32_t k = l->reads[id]; k < l->reads[id + 1]; k++) {
            int32_t v = p->value_of[l->read[k]];
            bool adds = v != NONE && p->early[v] &&
                        is_maker(p, launches, i, v);
            if (v != NONE && !adds) append(&reads, v);
        }
        for (int k = 0; k < count; k++) {
            if (p->early[made[k]] && begun[made[k]]) append(&reads, made[k]);
            begun[made[k]] = true;
        }
    }
    reads.start[r->step_count] = reads.count;
    r->reads = reads.start;
    r->read = reads.item;
}

static void list_makes(Problem *p, const NodeId *launches)
{
    Remat *r = &p->remat;
    Lists makes = new_lists(p, r->step_count);
    bool *begun = NEW_ARRAY(p->g->arena, r->value_count, bool);
    for (int32_t i = 0; i < r->step_count; i++) {
        int32_t made[MAX_SLOTS];
        int count = list_made(p, &p->g->nodes[launches[i]], made);
        makes.start[i] = makes.count;
        for (int k = 0; k < count; k++) {
            if (!p->early[made[k]] || !begun[made[k]]) append(&makes, made[k]);
            begun[made[k]] = true;
        }
    }
    makes.start[r->step_count] = makes.count;
    r->makes = makes.start;
    r->make = makes.item;
}

static void list_makers(Problem *p)
{
    Remat *r = &p->remat;
    int32_t *count = NEW_ARRAY(p->g->arena, r->value_count + 1, int32_t);
    r->makers = NEW_ARRAY(p->g->arena, r->value_count + 1, int32_t);
    r->maker = NEW_ARRAY(p->g->arena, r->makes[r->step_count], int32_t);
    for (int32_t k = 0; k < r->makes[r->step_count]; k++)
        r->makers[r->make[k] + 1]++;
    for (int32_t v = 0; v < r->value_count; v++)
        r->makers[v + 1] += r->makers[v];
    for (int32_t i = 0; i < r->step_count; i++)
        for (int32_t k = r->makes[i]; k < r->makes[i + 1]; k++)
            r->maker[r->makers[r->make[k]] + count[r->make[k]]++] = i;
}

static bool makes_alone(const Remat *r, int32_t step, int32_t v)
{
    for (int32_t k = r->makes[step]; k < r->makes[step + 1]; k++)
        if (r->make[k] == v) return r->makers[v + 1] - r->makers[v] == 1;
    return false;
}

static void list_overs(Problem *p, const NodeId *launches)
{
    const Lives *l = &p->lives;
    Remat *r = &p->remat;
    int32_t capacity = 0, count = 0;
    r->overs = NEW_ARRAY(p->g->arena, r->step_count + 1, int32_t);
    for (int32_t i = 0; i < r->step_count; i++) {
        const Node *n = &p->g->nodes[launches[i]];
        r->overs[i] = count;
        for (int32_t k = l->overs[launches[i]]; k < l->overs[launches[i] + 1];
             k++) {
            ValueId result = n->results[l->over[k].result];
            int32_t v = p->value_of[l->class_of[result]];
            int32_t under = p->value_of[l->over[k].class];
            if (v == NONE || under == NONE || !makes_alone(r, i, v)) continue;
            r->over = arena_grow(p->g->arena, r->over, &capacity,
                                 (int64_t)count + 1, sizeof(RematOver));
            r->over[count++] = (RematOver){ v, under };
        }
    }
    r->overs[r->step_count] = count;
}

// ---- steps that may be recomputed -------------------------------------------

// True if a launch may be recomputed: it changes no state, and makes values
// with bytes, none of them kept to the end.
static bool may_repeat(const Problem *p, NodeId id)
{
    const Node *n = &p->g->nodes[id];
    Slot slots[MAX_SLOTS];
    int32_t made[MAX_SLOTS];
    int count =
        kernel_slots(kernel_operands(n->op, n->kernel), slots, MAX_SLOTS);
    if (n->phase != FORWARD) return false;
    for (int32_t k = 0; k < n->operand_count && k < count; k++)
        if (slots[k].updated && n->operands[k] != NONE) return false;
    count = list_made(p, n, made);
    for (int k = 0; k < count; k++)
        if (p->remat.kept[made[k]] || p->early[made[k]]) return false;
    return count > 0;
}

void remat_spare_products(const Graph *g, Remat *r)
{
    int32_t step = 0;
    for (NodeId i = 0; i < g->node_count; i++) {
        Cost cost = {0};
        if (!is_launch(&g->nodes[i])) continue;
        node_cost(g, &g->nodes[i], &cost);
        r->may_repeat[step++] &= cost.products == 0;
    }
}

int32_t *remat_values(Graph *g)
{
    Problem p = { .g = g, .lives = lives_new(g) };
    list_values(&p);
    int32_t *values = NEW_ARRAY(g->arena, g->value_count, int32_t);
    for (ValueId v = 0; v < g->value_count; v++)
        values[v] = p.value_of[p.lives.class_of[v]];
    return values;
}

Remat remat_of(Graph *g)
{
    Problem p = { .g = g, .lives = lives_new(g), .remat.arena = g->arena };
    NodeId *launches = list_launches(&p);
    Remat *r = &p.remat;
    list_values(&p);
    p.last_maker = NEW_ARRAY(g->arena, r->value_count, int32_t);
    p.early = NEW_ARRAY(g->arena, r->value_count, bool);
    for (int32_t v = 0; v < r->value_count; v++) p.last_maker[v] = NONE;
    find_early(&p, launches);
    list_reads(&p, launches);
    list_makes(&p, launches);
    list_makers(&p);
    list_overs(&p, launches);
    r->cost = NEW_ARRAY(g->arena, r->step_count, int64_t);
    r->may_repeat = NEW_ARRAY(g->arena, r->step_count, bool);
    for (int32_t i = 0; i < r->step_count; i++) {
        r->cost[i] = node_time(g, &g->nodes[launches[i]], graph_gpu(g));
        r->may_repeat[i] = may_repeat(&p, launches[i]);
    }
    return p.remat;
}
