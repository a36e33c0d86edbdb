// What is alive and what runs again, by minimum cuts.
//
// While step t runs for the first time, some set K of values is alive.  What a
// later step reads, of what was made before, is in K, or it is made again
// later: then all of its makers run again, since a value of which a part is
// made before t and that is read after t is alive at t.  They read values too,
// of which the same is true.  Steps from backward_start on never run again.  So
// whatever the schedule is, its K and the set A of forward steps that run again
// behind t keep these rules:
//
//   1. A value that a step behind t reads, or that must be whole in the end, is
//      in K, or all its makers before t are in A.
//   2. So is each value that a step in A reads.
//   3. In K is what t reads, and what is kept and whole; alive beside it is
//      what t makes, unless it is written over what dies there: what such a
//      value costs that lives on are the bytes not saved.
//
// and it costs at least what A does, more than one without repeats.  For a
// price by the byte, the cheapest K and A are a minimum cut.  On the side of
// source are the steps in A, and values that are needed:
//
//   source -> v's makers    price * bytes of v    where rule 1 needs v
//   v -> v's makers         price * bytes of v    else
//   step -> v               never cut             where the step reads v
//   step -> sink            its cost
//
// v's makers are that step; sink, if it can't run again; or, if there are
// several, a node with an arc to each that is never cut.  A step is in A if it
// is on source's side, a value in K if it is and its makers are not; of sides,
// those are cheapest where no value is that need not be, so rule 2 is kept and
// each cut is the price of a K and an A.  What rule 3 says is the same in all.
#include "remat_cut.h"
#include <string.h>

enum { SOURCE, SINK, NODES };   // of the graph; others behind them
enum { NO_VALUE = -1 };

// ---- what is needed ---------------------------------------------------------

// How many of the value's makers come before step t.
static int32_t makers_before(const Remat *r, int32_t v, int32_t t)
{
    int32_t count = 0;
    for (int32_t k = r->makers[v]; k < r->makers[v + 1]; k++)
        count += r->maker[k] < t;
    return count;
}

// Whether all bytes that are there before step t can be made again behind it.
static bool can_make_again(const Remat *r, int32_t v, int32_t t)
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

// Forward steps behind t run before anything runs again, so what they read is
// alive.
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
        if (c->needed[v] && !can_make_again(r, v, c->t)) c->stays[v] = true;
    }
}

// The bytes of v, which t makes, that may lie over what dies there; if that is
// one value, *under is.
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

// What dies is written over by one result.  Where a result may lie over several
// values it is said to do so, whichever of them stays.
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

// What rule 3 says, and what is needed and can't be made again.
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
    if (!can_make_again(r, v, c->t)) return SINK;
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

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void add_arcs(RematCut *c, RematCharge *charges, int32_t count,
                     int64_t capacity)
{
    for (int32_t i = 0; i < count; i++) {
        charges[i].arc = flow_arc(c->flow, charges[i].from, charges[i].to);
        flow_set(c->flow, charges[i].arc, capacity);
    }
}

// Only what is needed, and what those that make it need.
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
                     bool *again, int64_t *bytes, int64_t *cost)
{
    set_prices(c, price, scale, shift);
    int64_t value = flow_cut(c->flow, SOURCE, SINK, c->near);
    *bytes = c->fixed;
    *cost = 0;
    memset(again, 0, (size_t)c->r->step_count * sizeof *again);
    for (int32_t i = 0; i < c->byte_count; i++)
        if (c->near[c->bytes[i].from] && !c->near[c->bytes[i].to])
            *bytes += c->charge[c->bytes[i].of];
    for (int32_t i = 0; i < c->cost_count; i++) {
        if (!c->near[c->costs[i].from]) continue;
        *cost += c->r->cost[c->costs[i].of];
        again[c->costs[i].of] = true;
    }
    return value;
}
