// Checks recomputed nodes: a copy of a node has the same operator, attributes
// and operands, where a recomputed value equals its original.  Its results have
// the same bits if the state that it reads has not changed, which
// verify_program.c checks.  A value fetched from host memory counts as
// recomputed too: verify_offload.c.
#include <inttypes.h>
#include <string.h>
#include "../base/unique_names.h"
#include "../gpu/offload.h"
#include "verify.h"
#include "program_order.h"

static ValueId first_of(const Graph *g, ValueId v)
{
    ValueId of = v == NONE ? NONE : g->values[v].recompute_of;
    return of == NONE ? v : of;
}

// True if a computes the same as b, by b's part `kernel` and as many results.
static bool does_the_same(const Graph *g, const Node *a, const Node *b,
                          int kernel, int results)
{
    if (a->op != b->op || a->kernel != kernel || a->act != b->act ||
        a->fused_load != b->fused_load || a->in_place != b->in_place ||
        (kernel == b->kernel && a->operand_count != b->operand_count) ||
        a->operand_count > b->operand_count || a->result_count != results ||
        !same_attributes(a, b))
        return false;
    for (int32_t k = 0; k < a->operand_count; k++)
        if (first_of(g, a->operands[k]) != first_of(g, b->operands[k]))
            return false;
    for (int32_t k = 0; k < a->result_count; k++)
        if (first_of(g, a->results[k]) != first_of(g, b->results[k]))
            return false;
    return true;
}

static bool recomputes(const Graph *g, const Node *a, const Node *b)
{
    int results, kernel = kernel_again(b, &results);
    return does_the_same(g, a, b, kernel, results);
}

// Returns the node that n repeats, or NONE.
static NodeId original_of(const Graph *g, const Node *n)
{
    for (int32_t k = 0; k < n->result_count; k++) {
        ValueId v = n->results[k];
        if (v != NONE && g->values[v].recompute_of != NONE)
            return g->values[g->values[v].recompute_of].def;
    }
    return NONE;
}

// Returns the node that made a value, or its original, first.
static NodeId maker_of(const Graph *g, ValueId v)
{
    return g->values[first_of(g, v)].def;
}

static void check_copied(const Check *c, ValueId v)
{
    const Graph *g = c->g;
    const Value *value = &g->values[v];
    ValueId first = value->recompute_of;
    if (first == NONE) value_fault(c, v, "it is no copy, but a copy makes it");
    if (first < 0 || first >= g->value_count || first == v ||
        g->values[first].recompute_of != NONE || g->values[first].def == NONE)
        value_fault(c, v, "it can't recompute %%%" PRId32, first);
    const Value *of = &g->values[first];
    if (!same_shape(of->shape, value->shape) || of->dtype != value->dtype ||
        of->kind != value->kind || value->persistent || value->output)
        value_fault(c, v, "it is not like %s, which it recomputes", of->name);
}

void check_again(const Check *c, NodeId id)
{
    const Graph *g = c->g;
    const Node *n = &g->nodes[id];

    for (int32_t k = 0; k < n->result_count; k++) {
        ValueId v = n->results[k];
        if (v == NONE) continue;
        if (n->phase == RECOMPUTE || is_copy(n)) check_copied(c, v);
        else if (g->values[v].recompute_of != NONE)
            value_fault(c, v, "it is a copy, but no copy makes it");
    }
    if (n->phase != RECOMPUTE) return;
    NodeId original = original_of(g, n);
    if (original == NONE || !recomputes(g, n, &g->nodes[original]))
        node_fault(c, id, "it does not recompute another node");
    if (is_launch(n) && g->nodes[original].phase != FORWARD)
        node_fault(c, id, "it recomputes a node that is not forward");
}

// ---- the nodes of the program -----------------------------------------------

static const char *place_copies(Arena *arena, const Graph *g, Node *nodes,
                                int32_t *place, const int32_t *place_of)
{
    int32_t count = g->written_count;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (n->phase != RECOMPUTE && !is_copy(n)) continue;
        NodeId original = is_copy(n) ? maker_of(g, copied_by(n))
                                     : original_of(g, n);
        if (count == g->node_count || original == NONE ||
            place_of[original] == NONE)
            return arena_print(arena, "%s is nothing's copy", n->name);
        nodes[count] = *n;
        place[count++] = place_of[original];
    }
    if (count == g->node_count) return NULL;
    return arena_print(arena, "%d nodes, of which the program has %d",
                       (int)g->node_count, (int)count);
}

const char *nodes_as_written(Arena *arena, const Graph *g, const Node **nodes,
                             const int32_t **place)
{
    Names *names = names_new(arena, g->node_count);
    Node *as_written = NEW_ARRAY(arena, g->node_count, Node);
    int32_t *places = NEW_ARRAY(arena, g->node_count, int32_t);
    int32_t *place_of = NEW_ARRAY(arena, g->node_count, int32_t);
    *nodes = g->written ? as_written : g->nodes;
    *place = places;
    for (NodeId i = 0; i < g->node_count; i++) {
        names_take(names, g->nodes[i].name, i);
        places[i] = i;
        place_of[i] = NONE;
    }
    for (int32_t i = 0; g->written && i < g->written_count; i++) {
        const Node *n = &g->written[i];
        NodeId id = names_find(names, n->name, strlen(n->name));
        if (id == NONE || g->nodes[id].phase != n->phase ||
            !does_the_same(g, &g->nodes[id], n, n->kernel, n->result_count))
            return arena_print(arena, "%s differs from the program",
                               n->name);
        as_written[i] = g->nodes[id];
        place_of[id] = i;
    }
    if (!g->written) return NULL;
    return place_copies(arena, g, as_written, places, place_of);
}
