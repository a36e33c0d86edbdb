// The table of a chain: the least cost of every segment by capacity.
//
//   C(s, t, m) = the least of
//     a turn of s, if s = t
//     way i of s:      forward + backward + C(s + 1, t, m - held)
//     for a between:   s to a - 1 for their outputs + C(a, t, m - held)
//                      + C(s, a - 1, m)
//
// each if its own runs fit in m.  A row holds the capacities of one segment.
// It starts at the first with a schedule and ends where more bytes do not lower
// the cost.  Before the rows, the same recurrence without capacities gives each
// segment's cost without a limit and its smallest capacity, exact in bytes.
// The unlimited cost tells where a row cannot improve, so most sums are never
// computed.
#include <math.h>
#include <string.h>
#include "../../ir/base/sizes.h"
#include "chain.h"

// ---- without capacities -----------------------------------------------------

// True if segments from s on occur that own (or borrow) their input.
static bool occurs(const Chain *c, bool owns, int32_t s)
{
    if (s == 0 || owns) return (s == 0) != owns;
    const ChainStage *before = &c->stages[s - 1];
    for (int32_t i = 0; i < before->way_count; i++)
        if (before->ways[i].reads_output) return true;
    return false;
}

typedef struct Bound {
    double  cost;
    int64_t bytes;
} Bound;

static void lower(Bound *b, double cost, int64_t bytes)
{
    if (cost < b->cost) b->cost = cost;
    if (bytes < b->bytes) b->bytes = bytes;
}

static Bound bound_segment(const ChainTable *t, bool owns, int32_t s, int32_t e)
{
    const Chain *c = t->chain;
    int32_t n = c->count;
    Bound b = {INFINITY, INT64_MAX};
    for (int32_t i = 0; s == e && i < c->stages[s].turn_count; i++) {
        ChainChoice turn = chain_turn(c, owns, s, i);
        lower(&b, (double)turn.cost, turn.need);
    }
    for (int32_t i = 0; s < e && i < c->stages[s].way_count; i++) {
        ChainChoice way = chain_way(c, owns, s, e, i);
        int32_t rest = (s + 1) * n + e;
        lower(&b, (double)way.cost + t->cheapest[rest],
              larger(way.need, way.held + t->least[way.owns][rest]));
    }
    ChainChoice split = {0};
    for (int32_t at = s + 1; at <= e; at++) {
        split = chain_split(c, owns, s, e, at, split);
        int32_t rest = at * n + e, again = s * n + at - 1;
        lower(&b, (double)split.cost + t->cheapest[rest] + t->cheapest[again],
              larger(larger(split.need, split.held + t->least[true][rest]),
                     t->least[owns][again]));
    }
    return b;
}

static void bound_segments(ChainTable *t)
{
    int32_t n = t->chain->count;
    for (int32_t s = n - 1; s >= 0; s--)
        for (int owns = 0; owns < 2; owns++)
            for (int32_t e = s; occurs(t->chain, owns, s) && e < n; e++) {
                Bound b = bound_segment(t, owns, s, e);
                t->cheapest[s * n + e] = b.cost;
                t->least[owns][s * n + e] = b.bytes;
            }
}

// ---- rows -------------------------------------------------------------------

// A row under construction: the least cost so far for each capacity, never
// rising.
typedef struct Filling {
    ChainTable *t;
    double     *best;
} Filling;

static int32_t to_units(const ChainTable *t, int64_t bytes)
{
    int64_t units = bytes / t->unit;
    if (t->rounding == CHAIN_UP && bytes % t->unit != 0) units++;
    return units < t->columns ? (int32_t)units : t->columns;
}

// Returns the first capacity at which the cost so far is at most this one.
static int32_t first_as_cheap(const Filling *f, double cost)
{
    int32_t low = 0, high = f->t->columns;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (f->best[middle] <= cost) high = middle;
        else low = middle + 1;
    }
    return low;
}

// The innermost loops: best = min(best, a + b + cost), where a or both rows may
// have become constant.
static void sum_rows(double *restrict best, const double *restrict a,
                     const double *restrict b, double cost, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        double sum = a[i] + b[i] + cost;
        best[i] = sum < best[i] ? sum : best[i];
    }
}

static void add_row(double *restrict best, const double *restrict a,
                    double cost, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        double sum = a[i] + cost;
        best[i] = sum < best[i] ? sum : best[i];
    }
}

static void add_cost(double *best, double cost, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        best[i] = cost < best[i] ? cost : best[i];
}

static double top_of(const ChainRow *row)
{
    return row->cost[row->high - row->low];
}

// Offers a choice and the segments that follow: row a with the bytes that the
// choice leaves, then row b with all.  The cost without a limit of bytes is
// `cheapest`.
static void offer(Filling *f, const ChainChoice *choice, const ChainRow *a,
                  const ChainRow *b, double cheapest)
{
    int32_t held = to_units(f->t, choice->held);
    int32_t from = to_units(f->t, choice->need);
    if (held >= f->t->columns) return;
    if (from < held + a->low) from = held + a->low;
    if (from < b->low) from = b->low;
    int32_t to = first_as_cheap(f, cheapest);
    if (from >= to) return;

    double cost = (double)choice->cost;
    int32_t end_a = held + a->high, end_b = b->high, at = from;
    f->t->work += to - from;
    int32_t end = (int32_t)smaller(to, smaller(end_a, end_b));
    if (at < end) {
        sum_rows(f->best + at, a->cost + (at - held - a->low),
                 b->cost + (at - b->low), cost, end - at);
        at = end;
    }
    end = (int32_t)smaller(to, end_a);
    if (at < end) {
        add_row(f->best + at, a->cost + (at - held - a->low), cost + top_of(b),
                end - at);
        at = end;
    }
    end = (int32_t)smaller(to, end_b);
    if (at < end) {
        add_row(f->best + at, b->cost + (at - b->low), cost + top_of(a),
                end - at);
        at = end;
    }
    if (at < to)
        add_cost(f->best + at, cost + top_of(a) + top_of(b), to - at);
}

static void clear(Filling *f)
{
    for (int32_t i = 0; i < f->t->columns; i++) f->best[i] = INFINITY;
}

// Stores the part of a row that is not constant at either end; clears it for
// the next row.
static ChainRow keep_row(Filling *f, Arena *arena)
{
    ChainTable *t = f->t;
    ChainRow row = {.low = t->columns, .high = t->columns};
    double top = f->best[t->columns - 1];
    if (top == INFINITY) return row;
    row.low = first_as_cheap(f, 9007199254740992.0);    // any but infinity
    row.high = first_as_cheap(f, top);
    int32_t count = row.high - row.low + 1;
    row.cost = NEW_ARRAY(arena, count, double);
    memcpy(row.cost, f->best + row.low, (size_t)count * sizeof(double));
    t->bytes += count * (int64_t)sizeof(double);
    clear(f);
    return row;
}

// Segments computed together.  Fastest for 400 stages; more rows do not fit in
// the cache.
enum { TILE = 4 };

// The segments s..e for several s.  They share the rows of at..e, which
// together are far larger than a cache.
typedef struct Tile {
    Filling     each[TILE][2];          // [s - low][owns its input]
    ChainChoice split[TILE][2];
    int32_t     low, high;              // s: low to before high
} Tile;

static void offer_split(Tile *tile, int owns, int32_t s, int32_t e, int32_t at)
{
    Filling *f = &tile->each[s - tile->low][owns];
    const ChainTable *t = f->t;
    const ChainChoice *split = &tile->split[s - tile->low][owns];
    int32_t n = t->chain->count, rest = at * n + e, again = s * n + at - 1;
    offer(f, split, &t->rows[true][rest], &t->rows[owns][again],
          (double)split->cost + t->cheapest[rest] + t->cheapest[again]);
}

static void next_split(Tile *tile, int owns, int32_t s, int32_t e, int32_t at)
{
    ChainChoice *split = &tile->split[s - tile->low][owns];
    if (at == s + 1) *split = (ChainChoice){0};
    *split = chain_split(tile->each[0][0].t->chain, owns, s, e, at, *split);
}

// Offers the turns, ways and near splits of s..e; splits after the tile are
// left out.
static void offer_near(Tile *tile, int owns, int32_t s, int32_t e)
{
    static double nothing[] = {0};
    static const ChainRow none = {.cost = nothing};
    Filling *f = &tile->each[s - tile->low][owns];
    const ChainTable *t = f->t;
    const ChainStage *stage = &t->chain->stages[s];
    for (int32_t i = 0; s == e && i < stage->turn_count; i++) {
        ChainChoice turn = chain_turn(t->chain, owns, s, i);
        offer(f, &turn, &none, &none, (double)turn.cost);
    }
    for (int32_t i = 0; s < e && i < stage->way_count; i++) {
        ChainChoice way = chain_way(t->chain, owns, s, e, i);
        int32_t rest = (s + 1) * t->chain->count + e;
        offer(f, &way, &t->rows[way.owns][rest], &none,
              (double)way.cost + t->cheapest[rest]);
    }
    for (int32_t at = s + 1; at < tile->high && at <= e; at++) {
        next_split(tile, owns, s, e, at);
        offer_split(tile, owns, s, e, at);
    }
}

// Computes all segments of the tile that end with e.
static void fill_column(Tile *tile, int32_t e, Arena *arena)
{
    ChainTable *t = tile->each[0][0].t;
    int32_t high = e < tile->high ? e + 1 : tile->high;
    for (int32_t at = tile->low; at <= e; at++)
        for (int32_t s = tile->low; s < high && s < at; s++)
            for (int owns = 0; owns < 2; owns++) {
                if (!occurs(t->chain, owns, s)) continue;
                next_split(tile, owns, s, e, at);
                if (at >= tile->high) offer_split(tile, owns, s, e, at);
            }
    for (int32_t s = high - 1; s >= tile->low; s--)
        for (int owns = 0; owns < 2; owns++) {
            if (!occurs(t->chain, owns, s)) continue;
            Filling *f = &tile->each[s - tile->low][owns];
            offer_near(tile, owns, s, e);
            t->rows[owns][s * t->chain->count + e] = keep_row(f, arena);
        }
}

static void fill_rows(ChainTable *t, Arena *arena)
{
    Tile tile = {.high = t->chain->count};
    for (int i = 0; i < TILE; i++)
        for (int owns = 0; owns < 2; owns++) {
            Filling *f = &tile.each[i][owns];
            *f = (Filling){t, NEW_ARRAY(arena, t->columns, double)};
            clear(f);
        }
    for (; tile.high > 0; tile.high = tile.low) {
        tile.low = tile.high > TILE ? tile.high - TILE : 0;
        for (int32_t e = tile.low; e < t->chain->count; e++)
            fill_column(&tile, e, arena);
    }
}

// ---- the table --------------------------------------------------------------

static void divide_peak(int64_t *unit, const ChainPeak *peak)
{
    *unit = common_divisor(*unit, peak->held);
    *unit = common_divisor(*unit, peak->last);
}

// Returns the greatest common divisor of all sizes; 1 if all are 0.
static int64_t exact_unit(const Chain *c)
{
    int64_t unit = 0;
    for (int32_t i = 0; i < c->count; i++) {
        const ChainStage *stage = &c->stages[i];
        unit = common_divisor(unit, stage->output);
        unit = common_divisor(unit, stage->gradient);
        divide_peak(&unit, &stage->peak);
        for (int32_t j = 0; j < stage->way_count; j++) {
            unit = common_divisor(unit, stage->ways[j].kept);
            divide_peak(&unit, &stage->ways[j].in_forward);
            divide_peak(&unit, &stage->ways[j].in_backward);
        }
        for (int32_t j = 0; j < stage->turn_count; j++)
            divide_peak(&unit, &stage->turns[j].peak);
    }
    return unit == 0 ? 1 : unit;
}

// Returns the number of columns that take some seconds and 400 MB.
static int32_t usual_columns(int32_t count)
{
    const double sums = 4e9, bytes = 4e8;
    double n = count, columns = sums / (n * n * n / 6);
    if (columns > bytes / (4 * n * n)) columns = bytes / (4 * n * n);
    return columns > 20000 ? 20000 : columns < 32 ? 32 : (int32_t)columns;
}

static void choose_unit(ChainTable *t, int64_t largest, int32_t columns)
{
    if (columns <= 0) columns = usual_columns(t->chain->count);
    if (columns < 2) columns = 2;
    if (largest > t->enough) largest = t->enough;
    t->unit = exact_unit(t->chain);
    t->is_exact = largest / t->unit < columns;
    if (!t->is_exact) t->unit = (largest - 1) / (columns - 1) + 1;
    t->columns = (int32_t)(largest / t->unit) + 1;
}

ChainTable *chain_bounds(Arena *arena, const Chain *c)
{
    chain_check(c);
    ChainTable *t = NEW(arena, ChainTable);
    size_t segments = (size_t)c->count * (size_t)c->count;
    *t = (ChainTable){.chain = c};
    t->cheapest = NEW_ARRAY(arena, segments, double);
    for (int owns = 0; owns < 2; owns++)
        t->least[owns] = NEW_ARRAY(arena, segments, int64_t);
    bound_segments(t);

    // Until the sufficient bytes are known, no capacity is limited.
    ChainSchedule cheapest;
    chain_find(arena, t, INT64_MAX, &cheapest);
    t->enough = chain_peak(c, &cheapest);
    return t;
}

ChainTable *chain_table_of(Arena *arena, const ChainTable *bounds,
                           int64_t largest, int32_t columns,
                           ChainRounding rounding)
{
    ChainTable *t = NEW(arena, ChainTable);
    size_t segments =
        (size_t)bounds->chain->count * (size_t)bounds->chain->count;
    *t = *bounds;
    t->rounding = rounding;
    t->work = t->bytes = 0;
    for (int owns = 0; owns < 2; owns++)
        t->rows[owns] = NEW_ARRAY(arena, segments, ChainRow);
    choose_unit(t, largest < 0 ? 0 : largest, columns);
    fill_rows(t, arena);
    return t;
}

ChainTable *chain_table(Arena *arena, const Chain *c, int64_t largest,
                        int32_t columns, ChainRounding rounding)
{
    return chain_table_of(arena, chain_bounds(arena, c), largest, columns,
                          rounding);
}
