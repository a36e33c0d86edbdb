// Finds schedules of chains from a table.  Bytes are counted exactly here.  The
// search takes the fitting choice with the lowest cost by the table for the
// bytes that remain.  So rounding loses bytes in one segment at a time and not
// in all together.  A table that rounds up overestimates the bytes of
// schedules, the more so the more stages there are.  So the search also reads
// it as if there were more bytes, and keeps the cheapest schedule.
#include <math.h>
#include "../../ir/base/sizes.h"
#include "chain.h"

// A capacity that is never exhausted.
#define UNLIMITED (INT64_MAX / 2)

typedef struct Finding {
    Arena            *arena;
    const ChainTable *t;
    ChainSchedule   *p;
    double            stretch;  // bytes looked up in the table for each byte
} Finding;

static double cost_in(const Finding *f, bool owns, int32_t segment,
                      int64_t bytes)
{
    const ChainTable *t = f->t;
    if (bytes > UNLIMITED / 2) return t->cheapest[segment];
    const ChainRow *row = &t->rows[owns][segment];
    int64_t units = (int64_t)((double)bytes * f->stretch) / t->unit;
    if (units < row->low || row->low == t->columns) return INFINITY;
    return row->cost[units < row->high ? units - row->low
                                       : row->high - row->low];
}

int64_t chain_least(const ChainTable *t)
{
    return t->least[false][t->chain->count - 1];
}

int64_t chain_table_cost(const ChainTable *t, int64_t capacity)
{
    if (capacity >= t->enough) capacity = UNLIMITED;
    if (capacity < 0) return INT64_MAX;
    Finding f = {.t = t, .stretch = 1};
    double cost = cost_in(&f, false, t->chain->count - 1, capacity);
    return cost == INFINITY ? INT64_MAX : (int64_t)cost;
}

// ---- how a segment begins ---------------------------------------------------

typedef struct Pick {
    int32_t     way;            // or the turn; NO_WAY: a split
    int32_t     at;             // where it splits
    ChainChoice choice;
    double      cost;           // by the table
    int64_t     need;           // the smallest capacity, exact
    double      cheapest;       // cost without a limit of bytes
} Pick;

enum { NO_WAY = -1 };

// True if a beats b.  The cheapest choice that fits wins.  The smallest need
// decides between equal costs, and if the table has no cost.
static bool is_better(const Pick *a, const Pick *b, int64_t bytes)
{
    if (a->need > bytes) return false;
    if (b->need > bytes || a->cost != b->cost)
        return b->need > bytes || a->cost < b->cost;
    if (a->need != b->need) return a->need < b->need;
    return a->cheapest < b->cheapest;
}

// Adds a segment that follows while `held` of the bytes are taken.
static void follow(const Finding *f, Pick *pick, bool owns, int32_t segment,
                   int64_t bytes, int64_t held)
{
    const ChainTable *t = f->t;
    pick->cost += cost_in(f, owns, segment, bytes - held);
    pick->cheapest += t->cheapest[segment];
    pick->need = larger(pick->need, held + t->least[owns][segment]);
}

static Pick new_pick(const ChainChoice *choice, int32_t way, int32_t at)
{
    return (Pick){way, at, *choice, (double)choice->cost, choice->need,
                  (double)choice->cost};
}

static Pick pick(const Finding *f, bool owns, int32_t s, int32_t e,
                 int64_t bytes)
{
    const Chain *c = f->t->chain;
    int32_t n = c->count;
    Pick best = {.need = INT64_MAX};
    for (int32_t i = 0; s == e && i < c->stages[s].turn_count; i++) {
        ChainChoice turn = chain_turn(c, owns, s, i);
        Pick p = new_pick(&turn, i, s);
        if (is_better(&p, &best, bytes)) best = p;
    }
    for (int32_t i = 0; s < e && i < c->stages[s].way_count; i++) {
        ChainChoice way = chain_way(c, owns, s, e, i);
        Pick p = new_pick(&way, i, s);
        follow(f, &p, way.owns, (s + 1) * n + e, bytes, way.held);
        if (is_better(&p, &best, bytes)) best = p;
    }
    ChainChoice split = {0};
    for (int32_t at = s + 1; at <= e; at++) {
        split = chain_split(c, owns, s, e, at, split);
        Pick p = new_pick(&split, NO_WAY, at);
        follow(f, &p, true, at * n + e, bytes, split.held);
        follow(f, &p, owns, s * n + at - 1, bytes, 0);
        if (is_better(&p, &best, bytes)) best = p;
    }
    return best;
}

// ---- schedules -------------------------------------------------------------

static void add_op(Finding *f, ChainRun run, int32_t stage, int32_t way)
{
    ChainSchedule *p = f->p;
    p->ops = arena_grow(f->arena, p->ops, &p->capacity, p->count + 1,
                        sizeof(ChainOp));
    p->ops[p->count++] = (ChainOp){run, stage, way};
}

static void find_segment(Finding *f, bool owns, int32_t s, int32_t e,
                         int64_t bytes)
{
    Pick p = pick(f, owns, s, e, bytes);
    while (p.way == NO_WAY) {
        for (int32_t i = s; i < p.at; i++)
            add_op(f, i == s ? CHAIN_KEEP : CHAIN_DROP, i, 0);
        find_segment(f, true, p.at, e, bytes - p.choice.held);
        e = p.at - 1;
        p = pick(f, owns, s, e, bytes);
    }
    if (s == e) {
        add_op(f, CHAIN_TURN, s, p.way);
        return;
    }
    add_op(f, CHAIN_WAY, s, p.way);
    find_segment(f, p.choice.owns, s + 1, e, bytes - p.choice.held);
    add_op(f, CHAIN_BACK, s, p.way);
}

bool chain_find(Arena *arena, const ChainTable *t, int64_t capacity,
                ChainSchedule *p)
{
    static const double stretches[] = {1,     1.0625, 1.125, 1.1875, 1.25,
                                       1.375, 1.5,    1.75,  2};
    const int count = (int)(sizeof stretches / sizeof *stretches);
    *p = (ChainSchedule){0};
    if (capacity < chain_least(t)) return false;
    bool is_unlimited = capacity >= t->enough;
    if (is_unlimited) capacity = UNLIMITED;
    for (int i = 0; i < (is_unlimited || t->is_exact ? 1 : count); i++) {
        ChainSchedule other = {0};
        Finding f = {arena, t, &other, stretches[i]};
        find_segment(&f, false, 0, t->chain->count - 1, capacity);
        if (i == 0 || chain_cost(t->chain, &other) < chain_cost(t->chain, p))
            *p = other;
    }
    return true;
}
