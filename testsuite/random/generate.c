// Draws a net: statement after statement, each kept where the front end takes
// it and its results stay small. Losses, metrics, outputs and a train section
// follow.
#include "net.h"

#include <string.h>

enum { TRIES = 40, MOST_ELEMENTS = 6000, MOST_FLOPS = 400000 };

// ---- which operator ---------------------------------------------------------

static int weight_of(const Op *op, unsigned flags, bool exact)
{
    int weight = 4;
    if (!(op->flags & flags) || op->flags & INTERNAL) return 0;
    if (exact && !(op->flags & EXACT)) return 0;
    for (const ArgSpec *a = op->args; a != NULL && a->name != NULL; a++)
        weight++;
    return weight + (strchr(op->operands, '[') != NULL ? 4 : 0);
}

const Op *draw_op(Net *n, unsigned flags)
{
    int total = 0;
    for (int i = 0; i < OP_COUNT; i++)
        total += weight_of(ops[i], flags, n->exact);
    int64_t at = draw_int(&n->draw, 0, total - 1);
    for (int i = 0; i < OP_COUNT; i++)
        if ((at -= weight_of(ops[i], flags, n->exact)) < 0) return ops[i];
    bug("no operator to draw");
}

// ---- a statement ------------------------------------------------------------

static bool is_small(const Graph *g)
{
    int64_t flops = 0;
    for (ValueId v = 0; v < g->value_count; v++)
        if (elements(g->values[v].shape) > MOST_ELEMENTS &&
            g->values[v].kind != WORKSPACE)
            return false;
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *node = &g->nodes[i];
        Cost cost;
        if (node->op == NULL) continue;
        node_cost(g, node, &cost);
        flops = capped_sum(flops, cost.flops);
    }
    return flops <= MOST_FLOPS;
}

// For every value, true if a parameter leads to it.
static bool *values_of_parameters(const Graph *g)
{
    bool *trained = NEW_ARRAY(g->arena, g->value_count, bool);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *node = &g->nodes[i];
        bool any = false;
        for (int k = 0; k < node->operand_count; k++) {
            ValueId v = node->operands[k];
            if (v != NONE) any |= trained[v] || g->values[v].kind == PARAM;
        }
        for (int k = 0; k < node->result_count; k++)
            if (node->results[k] != NONE) trained[node->results[k]] = any;
    }
    return trained;
}

// The front end's result for the values drawn since the pool was last whole.
static bool settle_pool(Net *n)
{
    Arena *arena = arena_new();
    const Graph *g = try_net(n, arena, EVAL);
    bool good = g != NULL && is_small(g);
    const bool *trained = good ? values_of_parameters(g) : NULL;

    for (int i = 0; i < n->pool_count && good; i++) {
        Pooled *p = &n->pool[i];
        ValueId v = 0;
        if (p->is_input) continue;
        while (v < g->value_count && strcmp(g->values[v].name, p->name) != 0)
            v++;
        if (v == g->value_count) {      // parts that evaluation lacks
            p->shape = n->pool[p->from].shape;
            p->dtype = n->pool[p->from].dtype;
            p->trained = n->pool[p->from].trained;
            continue;
        }
        good = g->values[v].shape.rank > 1;
        if (!good) break;
        p->shape = g->values[v].shape;
        p->shape.rank--;
        memmove(p->shape.dim, p->shape.dim + 1,
                (size_t)p->shape.rank * sizeof p->shape.dim[0]);
        p->dtype = g->values[v].dtype;
        p->trained = trained[v];
    }
    arena_free(arena);
    return good;
}

// Restores n, except the numbers that have been drawn.
static void restore(Net *n, const Net *saved)
{
    Draw draw = n->draw;
    *n = *saved;
    n->draw = draw;
}

static void add_value(Net *n, const char *call)
{
    Pooled *p = &n->pool[n->pool_count++];
    *p = (Pooled){ .name = arena_print(n->arena, "v%d", ++n->value_number),
                   .dtype = F64, .from = n->first_operand };
    add_line(&n->body, arena_print(n->arena, "%s = %s", p->name, call));
}

// A statement that calls op, of the value before where it can.
static bool draw_statement_of(Net *n, const Op *op, bool follows)
{
    for (int i = 0; i < TRIES; i++) {
        Net saved = *n;
        const Pooled *before = follows && i < TRIES / 2
            ? &n->pool[n->pool_count - 1] : NULL;
        n->last = op;
        add_value(n, draw_call(n, op, before));
        // The shape of a view may be unknown before it is read.
        if (op->flags & VIEW && draw_chance(&n->draw, 0.5))
            add_value(n, draw_call(n, draw_op(n, LAYER),
                                   &n->pool[n->pool_count - 1]));
        if (settle_pool(n)) return true;
        restore(n, &saved);
    }
    return false;
}

// Layers that may fuse with a pool, and an activation between.
static bool draw_before_pool(Net *n, bool follows)
{
    int i = 0;
    while (i < OP_COUNT && ops[i]->pooling == NULL) i++;
    if (i == OP_COUNT || !draw_statement_of(n, ops[i], follows)) return false;
    if (draw_chance(&n->draw, 0.5))
        draw_statement_of(n, draw_op(n, ACT), true);
    return true;
}

// Passes look at pairs of neighbours. So often a statement reads the one
// before, or an activation follows a layer that can store one. Often a pool
// follows a layer that can fuse with it. Weights with a name are often shared.
static bool draw_statement(Net *n)
{
    bool stores = n->last != NULL && n->last->flags & STORES_ACT;
    if (n->named_count > 0 && draw_chance(&n->draw, 0.15))
        return draw_statement_of(
            n, n->named[draw_int(&n->draw, 0, n->named_count - 1)].op, false);
    bool follows = n->value_number > 0 && draw_chance(&n->draw, 0.5);
    const Op *op = draw_op(n, follows && stores && draw_chance(&n->draw, 0.6)
                                  ? ACT : LAYER);
    if (op->flags & POOLS && draw_chance(&n->draw, 0.7))
        follows |= draw_before_pool(n, follows);
    return draw_statement_of(n, op, follows);
}

// ---- the net ----------------------------------------------------------------

// Mostly small; some wider than the tiles that products are cut into.
static void draw_sizes(Net *n)
{
    static const struct { double chance; int64_t side, channels; } sizes[] = {
        { 0.15, 1, 12 }, { 0.35, 4, 6 }, { 0.25, 7, 9 }, { 0.1, 13, 3 },
        { 0.15, 3, 70 },
    };
    double at = draw_unit(&n->draw);
    size_t i = 0;

    while (i < 4 && (at -= sizes[i].chance) >= 0) i++;
    n->side = draw_int(&n->draw, 1, sizes[i].side);
    n->channels = draw_int(&n->draw, 1, sizes[i].channels);
    n->batch = draw_small(&n->draw, 1, 7);
    if (n->exact) n->batch = 1 << draw_int(&n->draw, 0, 3);
}

static bool try_draw(Net *n)
{
    draw_sizes(n);
    for (int64_t i = 0; i < n->statements; i++) draw_statement(n);
    if (n->value_number == 0 || !draw_ends(n)) return false;
    draw_train(n);
    Arena *arena = arena_new();
    bool good = try_net(n, arena, TRAIN) != NULL &&
                try_net(n, arena, INFER) != NULL;
    arena_free(arena);
    return good;
}

void draw_net(Net *n)
{
    Net saved = *n;
    while (!try_draw(n)) restore(n, &saved);
}
