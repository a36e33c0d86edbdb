// Chooses kept values and recomputed steps by a minimum cut.
//
// Two sets describe a schedule at the first run of step t: K, the values alive
// then, and A, the forward steps recomputed after it.  Take a value v that is
// made before t and read by a later step.  Either v is in K, or all its makers
// before t are in A.  A value that is partly made before t and read after t is
// alive at t.  The makers read values too, for which the same holds.  Steps
// from backward_start on are never recomputed.  So K and A of every schedule
// obey three rules:
//
//   1. A value that a step after t reads, or that must be whole in the end, is
//      in K, or all its makers before t are in A.
//   2. The same holds for each value that a step in A reads.
//   3. K contains the values that t reads and the whole values that are kept.
//      The results of t are alive in addition, unless they overwrite a value
//      that dies at t.  If such a value lives on, it costs the bytes not saved.
//
// The schedule costs at least the sum over A more than one without
// recomputation.  For a price of a byte, the cheapest K and A are a minimum cut
// of this graph.  The side of source holds the steps in A and the values that
// are needed:
//
//   source -> makers(v)    price * bytes of v    if rule 1 applies to v
//   v -> makers(v)         price * bytes of v    otherwise
//   step -> v              never cut             if the step reads v
//   step -> sink           its cost
//
// makers(v) is the step that makes v; sink, if v can't be recomputed; or, for
// several makers, a node with an arc to each that is never cut.  A step on
// source's side is in A.  A value on source's side whose makers are not is in
// K.  A cheapest cut has no unneeded value on source's side, so rule 2 holds.
// The cut is the price of one K and one A.  Rule 3 adds a constant.
#include "remat_cut.h"
#include <string.h>
#include "../../ir/base/sizes.h"

enum { SOURCE, SINK, NODES };   // of the graph; others follow
enum { NO_VALUE = -1 };

// ---- the values that are needed ---------------------------------------------

// Returns the number of v's makers before step t.
static int32_t makers_before(const Remat *r, int32_t v, int32_t t)
{
    int32_t count = 0;
    for (int32_t k = r->makers[v]; k < r->makers[v + 1]; k++)
        count += r->maker[k] < t;
    return count;
}

// True if all of v that exists before step t can be recomputed after it.
static bool can_recompute(const Remat *r, int32_t v, int32_t t)
{
    bool can = r->makers[v] < r->makers[v + 1];
    for (int32_t k = r->makers[v]; k < r->makers[v + 1]; k++) {
        int32_t s = r->maker[k];
        can &= s >= t || (s < r->backward_start && r->may_repeat[s]);
    }
    return can;
}

static bool is_there(const Remat *r, int32_t v, int32_t t)
{
    return r->makers[v] == r->makers[v + 1] || makers_before(r, v, t) > 0;
}

// Sets needed and stays.  Forward steps after t run before any recomputation,
// so the values they read are alive at t.
static void find_needed(RematCut *c)
{
    const Remat *r = c->r;
    int32_t forward = c->t < r->backward_start ? r->backward_start - 1 : c->t;
    for (int32_t k = r->reads[c->t + 1]; k < r->reads[r->step_count]; k++)
        c->needed[r->read[k]] = is_there(r, r->read[k], c->t);
    for (int32_t k = r->reads[c->t + 1]; k < r->reads[forward + 1]; k++)
        c->stays[r->read[k]] = is_there(r, r->read[k], c->t);
    for (int32_t v = 0; v < r->value_count; v++) {
        int32_t before = makers_before(r, v, c->t);
        bool is_whole = before == r->makers[v + 1] - r->makers[v];
        if (r->kept[v] && is_whole) c->stays[v] = true;
        if (r->kept[v] && before > 0) c->needed[v] = true;
        if (c->needed[v] && !can_recompute(r, v, c->t)) c->stays[v] = true;
    }
}

// Returns the bytes of v, a result of t, that can overwrite a dying value.  If
// only one value qualifies, *under is it.
static int64_t bytes_over(const RematCut *c, int32_t v, int32_t *under)
{
    const Remat *r = c->r;
    int64_t most = 0;
    int found = 0;
    for (int32_t k = r->overs[c->t]; k < r->overs[c->t + 1]; k++) {
        int32_t below = r->over[k].value;
        if (r->over[k].result != v || c->stays[below]) continue;
        int64_t bytes = r->bytes[below] < r->bytes[v] ? r->bytes[below]
                                                      : r->bytes[v];
        if (bytes > most) most = bytes;
        *under = below;
        found++;
    }
    if (found > 1) *under = NO_VALUE;
    return most;
}

// Subtracts the bytes of overwriting.  Each dying value is overwritten by one
// result.  A result that may overwrite several values is assumed to do so,
// whichever of them stays.
static void count_overs(RematCut *c)
{
    const Remat *r = c->r;
    for (int32_t k = r->makes[c->t]; k < r->makes[c->t + 1]; k++) {
        int32_t under = NO_VALUE;
        int64_t bytes = bytes_over(c, r->make[k], &under);
        if (under == NO_VALUE)
            c->fixed -= bytes;
        else if (bytes > c->lent[under])
            c->lent[under] = bytes;
    }
}

// Counts the bytes alive in any case: by rule 3, and of needed values that
// can't be recomputed.
static void count_fixed(RematCut *c)
{
    const Remat *r = c->r;
    memcpy(c->free, c->stays, (size_t)r->value_count);
    for (int32_t k = r->reads[c->t]; k < r->reads[c->t + 1]; k++)
        c->free[r->read[k]] = true;
    for (int32_t k = r->makes[c->t]; k < r->makes[c->t + 1]; k++)
        c->free[r->make[k]] = true;
    for (int32_t v = 0; v < r->value_count; v++) {
        c->charge[v] = c->lent[v] > 0 ? c->lent[v] : r->bytes[v];
        if (c->free[v]) c->fixed += r->bytes[v] - c->lent[v];
        if (c->lent[v] > 0) c->free[v] = false;
    }
}

// ---- the graph --------------------------------------------------------------

static int32_t node_of(RematCut *c, int32_t *node)
{
    if (*node == 0) *node = c->node_count++;
    return *node;
}

static void add_whole(RematCut *c, int32_t from, int32_t to)
{
    c->whole[c->whole_count++] = (RematCharge){.from = from, .to = to};
}

static int32_t node_of_needed(RematCut *c, int32_t v)
{
    if (c->value_node[v] == 0) c->queue[c->queued++] = v;
    return node_of(c, &c->value_node[v]);
}

static int32_t add_step(RematCut *c, int32_t s)
{
    const Remat *r = c->r;
    if (c->step_node[s] != 0) return c->step_node[s];
    int32_t node = node_of(c, &c->step_node[s]);
    c->costs[c->cost_count++] =
        (RematCharge){.from = node, .to = SINK, .of = s};
    for (int32_t k = r->reads[s]; k < r->reads[s + 1]; k++) {
        int32_t v = r->read[k];
        if (c->free[v] || c->needed[v]) continue;
        add_whole(c, node, node_of_needed(c, v));
    }
    return node;
}

static int32_t add_makers(RematCut *c, int32_t v)
{
    const Remat *r = c->r;
    int32_t count = makers_before(r, v, c->t);
    if (!can_recompute(r, v, c->t)) return SINK;
    if (count == 1) return add_step(c, r->maker[r->makers[v]]);
    int32_t all = c->node_count++;
    for (int32_t k = 0; k < count; k++)
        add_whole(c, all, add_step(c, r->maker[r->makers[v] + k]));
    return all;
}

static void add_value(RematCut *c, int32_t v)
{
    int32_t from = c->needed[v] ? SOURCE : c->value_node[v];
    int32_t to = add_makers(c, v);
    c->bytes[c->byte_count++] = (RematCharge){.from = from, .to = to, .of = v};
}

static void add_arcs(RematCut *c, RematCharge *charges, int32_t count,
                     int64_t capacity)
{
    for (int32_t i = 0; i < count; i++) {
        charges[i].arc = flow_arc(c->flow, charges[i].from, charges[i].to);
        flow_set(c->flow, charges[i].arc, capacity);
    }
}

// Adds only the needed values, the steps that make them, and their operands.
static void build_graph(RematCut *c)
{
    const Remat *r = c->r;
    for (int32_t v = 0; v < r->value_count; v++)
        if (c->needed[v] && !c->free[v]) c->queue[c->queued++] = v;
    for (int32_t i = 0; i < c->queued; i++) add_value(c, c->queue[i]);
    c->flow = flow_new(c->arena, c->node_count);
    c->near = NEW_ARRAY(c->arena, c->node_count, bool);
    add_arcs(c, c->bytes, c->byte_count, 0);
    add_arcs(c, c->costs, c->cost_count, 0);
    add_arcs(c, c->whole, c->whole_count, FLOW_WHOLE);
    for (int32_t i = 0; i < c->byte_count; i++)
        c->unit = common_divisor(c->charge[c->bytes[i].of], c->unit);
    if (c->unit == 0) c->unit = 1;
    for (int32_t i = 0; i < c->byte_count; i++)
        c->all_units += c->charge[c->bytes[i].of] / c->unit;
    for (int32_t i = 0; i < c->cost_count; i++)
        c->all_costs += r->cost[c->costs[i].of];
}

void remat_cut_new(RematCut *c)
{
    const Remat *r = c->r;
    size_t values = (size_t)r->value_count + 1, steps = (size_t)r->step_count;
    size_t makes = (size_t)r->makes[r->step_count];
    size_t reads = (size_t)r->reads[r->step_count];
    c->free = NEW_ARRAY(c->arena, values, bool);
    c->needed = NEW_ARRAY(c->arena, values, bool);
    c->stays = NEW_ARRAY(c->arena, values, bool);
    c->lent = NEW_ARRAY(c->arena, values, int64_t);
    c->charge = NEW_ARRAY(c->arena, values, int64_t);
    c->value_node = NEW_ARRAY(c->arena, values, int32_t);
    c->step_node = NEW_ARRAY(c->arena, steps + 1, int32_t);
    c->queue = NEW_ARRAY(c->arena, values, int32_t);
    c->bytes = NEW_ARRAY(c->arena, values, RematCharge);
    c->costs = NEW_ARRAY(c->arena, steps + 1, RematCharge);
    c->whole = NEW_ARRAY(c->arena, reads + makes + 1, RematCharge);
    c->node_count = NODES;
    find_needed(c);
    count_overs(c);
    count_fixed(c);
    build_graph(c);
}

// ---- cuts -------------------------------------------------------------------

static void set_prices(RematCut *c, int64_t price, int64_t scale, int shift)
{
    for (int32_t i = 0; i < c->byte_count; i++)
        flow_set(c->flow, c->bytes[i].arc,
                 price * (c->charge[c->bytes[i].of] / c->unit));
    for (int32_t i = 0; i < c->cost_count; i++) {
        int64_t cost = c->r->cost[c->costs[i].of] * scale >> shift;
        flow_set(c->flow, c->costs[i].arc, cost > 0 ? cost : 1);
    }
}

int64_t remat_cut_at(RematCut *c, int64_t price, int64_t scale, int shift,
                     bool *recomputed, int64_t *bytes, int64_t *cost)
{
    set_prices(c, price, scale, shift);
    int64_t value = flow_cut(c->flow, SOURCE, SINK, c->near);
    *bytes = c->fixed;
    *cost = 0;
    memset(recomputed, 0, (size_t)c->r->step_count * sizeof *recomputed);
    for (int32_t i = 0; i < c->byte_count; i++)
        if (c->near[c->bytes[i].from] && !c->near[c->bytes[i].to])
            *bytes += c->charge[c->bytes[i].of];
    for (int32_t i = 0; i < c->cost_count; i++) {
        if (!c->near[c->costs[i].from]) continue;
        *cost += c->r->cost[c->costs[i].of];
        recomputed[c->costs[i].of] = true;
    }
    return value;
}
