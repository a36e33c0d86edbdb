// A lower bound of the cost of recomputation.
//
// Consider the schedules that have a number of bytes alive while step t first
// runs.  For a price of the byte, remat_cut.c finds the minimum of price *
// bytes + cost, by rules that all schedules keep.  This gives a line in the
// plane of bytes and cost: no schedule is below it.
//
// Prices are the slopes between two known points.  The minimum at such a price
// is a point between the two, and the search continues on both sides.  Or no
// point is below the line through both; the line is then an edge of the lower
// hull (Eisner and Severance).
#include "remat_bound.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "../../ir/base/diag.h"
#include "remat_cut.h"

typedef struct Bounder {
    RematCut   cut;
    RematCurve c;
    bool      *closed;          // of each point: the edge to the next is final
    int32_t    cuts;            // cuts that may still be made
} Bounder;

static void add_point(Bounder *b, int32_t i, RematPoint point)
{
    memmove(&b->c.point[i + 1], &b->c.point[i],
            (size_t)(b->c.count - i) * sizeof point);
    memmove(&b->closed[i + 1], &b->closed[i], (size_t)(b->c.count - i));
    b->c.point[i] = point;
    b->closed[i] = false;
    b->c.count++;
}

static RematPoint cut_at(Bounder *b, int64_t price, int64_t scale, int shift)
{
    RematPoint point;
    point.recomputed = NEW_ARRAY(b->cut.arena, b->cut.r->step_count, bool);
    int64_t value = remat_cut_at(&b->cut, price, scale, shift, point.recomputed,
                                 &point.bytes, &point.cost);
    b->cuts--;
    if (shift == 0)
        b->c.line[b->c.line_count++] = (RematLine){price, scale, value};
    return point;
}

static RematPoint nothing_again(Bounder *b)
{
    RematPoint point = {.bytes = b->cut.fixed};
    point.recomputed = NEW_ARRAY(b->cut.arena, b->cut.r->step_count, bool);
    for (int32_t v = 0; v < b->cut.r->value_count; v++)
        if (b->cut.needed[v] && !b->cut.free[v])
            point.bytes += b->cut.charge[v];
    return point;
}

// Adds both ends of the curve: the point without recomputation, and the point
// with the fewest bytes, by a price that exceeds all costs.  If numbers would
// overflow, costs are scaled down.  Then a cheaper point of these bytes may
// exist; it is found between the two.
static void add_ends(Bounder *b)
{
    int64_t units = b->cut.all_units, costs = b->cut.all_costs;
    int shift = 0;
    add_point(b, 0, nothing_again(b));
    if (units == 0) {
        b->cuts = 0;
        return;
    }
    if (units > FLOW_WHOLE / 4 / (b->cut.cost_count + 1) ||
        costs > FLOW_WHOLE / 4)
        bug("%" PRId64 " units of %" PRId64 " bytes, or costs of %" PRId64
            ", are too many", units, b->cut.unit, costs);
    // Each step counts at least 1.
    while ((costs >> shift) + b->cut.cost_count + 1 > FLOW_WHOLE / 2 / units)
        shift++;
    RematPoint least = cut_at(b, (costs >> shift) + b->cut.cost_count + 1, 1,
                              shift);
    if (least.bytes < b->c.point[0].bytes) add_point(b, 1, least);
}

// Cuts at the price of the slope between point i and the next.  Numbers that
// are too large are scaled down, so the price is approximate.
static void look_between(Bounder *b, int32_t i)
{
    const RematPoint *more = &b->c.point[i], *less = &b->c.point[i + 1];
    int64_t price = less->cost - more->cost;
    int64_t scale = (more->bytes - less->bytes) / b->cut.unit;
    while (price > FLOW_WHOLE / 2 / b->cut.all_units ||
           scale > FLOW_WHOLE / 2 / b->cut.all_costs) {
        price = price > 1 ? price / 2 : 1;
        scale = scale > 1 ? scale / 2 : 1;
    }
    RematPoint point = cut_at(b, price, scale, 0);
    bool is_less = point.cost < less->cost && point.cost > more->cost;
    bool is_between = point.bytes > less->bytes && point.bytes < more->bytes;
    if (is_less && point.bytes == less->bytes)
        b->c.point[i + 1] = point;
    else if (is_less && is_between &&
             price * ((more->bytes - point.bytes) / b->cut.unit) >
                 scale * (point.cost - more->cost))
        add_point(b, i + 1, point);
    else
        b->closed[i] = true;
}

// Returns the point after which to cut next: the largest open edge; -1: none.
static int32_t most_open(const Bounder *b, int64_t capacity)
{
    int32_t found = -1;
    double most = -1;
    for (int32_t i = 0; i + 1 < b->c.count; i++) {
        const RematPoint *more = &b->c.point[i], *less = more + 1;
        double open = (double)(more->bytes - less->bytes) *
                      (double)(less->cost - more->cost);
        if (b->closed[i] || open <= most) continue;
        if (capacity != EVERYWHERE &&
            (capacity < less->bytes || capacity >= more->bytes))
            continue;
        most = open;
        found = i;
    }
    return found;
}

RematCurve remat_curve(const Remat *r, int32_t t, int64_t capacity,
                       int32_t cuts)
{
    if (t < 0 || t >= r->step_count) bug("there is no step %d", (int)t);
    // The graph is large and is freed.
    Bounder b = {.cut = {.r = r, .t = t, .arena = arena_new()}, .cuts = cuts};
    remat_cut_new(&b.cut);
    b.c.fixed = b.cut.fixed;
    b.c.unit = b.cut.unit;
    b.c.point = NEW_ARRAY(r->arena, (size_t)cuts + 3, RematPoint);
    b.c.line = NEW_ARRAY(r->arena, (size_t)cuts + 1, RematLine);
    b.closed = NEW_ARRAY(b.cut.arena, (size_t)cuts + 3, bool);
    add_ends(&b);
    for (int32_t i; b.cuts > 0 && (i = most_open(&b, capacity)) >= 0;)
        look_between(&b, i);
    for (int32_t i = 0; i < b.c.count; i++) {
        bool *recomputed = NEW_ARRAY(r->arena, r->step_count, bool);
        memcpy(recomputed, b.c.point[i].recomputed, (size_t)r->step_count);
        b.c.point[i].recomputed = recomputed;
    }
    arena_free(b.cut.arena);
    return b.c;
}

int64_t remat_bound(const RematCurve *c, int64_t capacity)
{
    int64_t bound = 0;
    if (capacity < c->point[c->count - 1].bytes) return -1;
    if (capacity >= c->point[0].bytes) return 0;
    int64_t units = (capacity - c->fixed) / c->unit;
    for (int32_t i = 0; i < c->line_count; i++) {
        const RematLine *line = &c->line[i];
        int64_t rest = line->value - line->price * units;
        if (rest <= 0) continue;
        int64_t least = (rest - 1) / line->scale + 1;
        if (least > bound) bound = least;
    }
    return bound;
}

// ---- bounds over several steps ----------------------------------------------

typedef struct Fullness {
    int64_t bytes;
    int32_t step;
} Fullness;

static int compare_fullness(const void *a, const void *b)
{
    const Fullness *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->step < y->step ? -1 : 1;
}

static Fullness *by_fullness(const Remat *r)
{
    RematSchedule base = {r->step_count, NEW_ARRAY(r->arena, r->step_count,
                                                   int32_t)};
    int64_t *bytes = NEW_ARRAY(r->arena, r->step_count, int64_t);
    Fullness *full = NEW_ARRAY(r->arena, r->step_count, Fullness);
    for (int32_t i = 0; i < r->step_count; i++) base.step[i] = i;
    remat_alive(r, &base, bytes);
    for (int32_t i = 0; i < r->step_count; i++)
        full[i] = (Fullness){bytes[i], i};
    qsort(full, (size_t)r->step_count, sizeof *full, compare_fullness);
    return full;
}

int64_t remat_bound_at_fullest(const Remat *r, int64_t capacity, int32_t steps,
                               int32_t *at)
{
    enum { CUTS = 60 };         // more than the search for one capacity needs
    Remat own = *r;
    own.arena = arena_new();
    const Fullness *full = by_fullness(&own);
    int64_t most = 0;
    *at = full[0].step;
    for (int32_t i = 0; i < steps && i < r->step_count && most >= 0; i++) {
        if (full[i].bytes <= capacity) break;
        RematCurve c = remat_curve(&own, full[i].step, capacity, CUTS);
        int64_t bound = remat_bound(&c, capacity);
        if (bound >= 0 && bound <= most) continue;
        most = bound;
        *at = full[i].step;
    }
    arena_free(own.arena);
    return most;
}

int64_t remat_least_at_fullest(const Remat *r, int32_t steps, int32_t *at)
{
    Remat own = *r;
    own.arena = arena_new();
    const Fullness *full = by_fullness(&own);
    int64_t most = 0;
    *at = full[0].step;
    for (int32_t i = 0; i < steps && i < r->step_count; i++) {
        if (full[i].bytes <= most) break;
        RematCurve c = remat_curve(&own, full[i].step, EVERYWHERE, 1);
        int64_t least = c.point[c.count - 1].bytes;
        if (least <= most) continue;
        most = least;
        *at = full[i].step;
    }
    arena_free(own.arena);
    return most;
}
