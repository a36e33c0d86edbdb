// Searches recomputation schedules of any graph.
//
// Each group of forward steps has a mode (keep_modes.h).  Its results are kept,
// recomputed once when first read after the forward pass, or recomputed for
// each reader.  The search starts at the peak of the schedule without
// recomputation and goes down from level to level.  At each level
//
//   - while the peak exceeds the level, it raises one group with idle results
//     at the peak to its next mode: the one that removes the most bytes above
//     the level for its cost;
//   - it lowers modes that turn out to be unnecessary, the costliest first;
//   - it lowers some modes at random and repeats both, until the level's share
//     of the work is used.  The cheapest schedule stays.
//
// A net that is a chain of stages also has the schedules of remat_chain.h; a
// very deep one has only these.
//
// Each level starts from the modes of the level before.  A second start takes
// the recomputations of the lower bound at the first backward step.
#include "remat_search.h"
#include "../../ir/base/splitmix.h"
#include <string.h>
#include "remat_bound.h"
#include "remat_chain.h"
#include "pareto.h"
#include "keep_modes.h"

enum {
    MOST_TRIED = 96,            // groups that are evaluated before one is
                                // raised
    MOST_LOWERED = 400,         // and evaluated to be lowered, in one turn
    MOST_CUTS = 64,             // for the bound's curve
    LEVEL_EVALUATIONS = 600,    // that a level should have
    FEWEST_LEVELS = 24,
    PATIENCE = 16,              // unsuccessful shakes before a level ends
    CHAIN_SUMS = 1,             // sums of a chain's table for each unit of work
    MOST_STEPS = 6000,          // longest chain that is searched,
    MOST_QUICK_STEPS = 2000     // and in a short search
};

typedef struct Search {
    const Remat  *r;
    Modes         m;
    RematChoices  all;
    RematCurve    curve;        // at backward_start
    int32_t      *list;         // of groups, room for all
    bool         *may_repeat;   // of each group, as of its steps
    int64_t      *cost;
    double       *gain;         // upper bound of the gain by raising it, while
                                // listed
    int32_t      *listed, listing;
    int64_t      *above;        // before each place: sum of bytes above the
                                // level,
    int32_t      *places;       // and number of places above it
    int32_t      *last_read;    // of each value: its last forward reader, or
                                // its maker
    bool         *is_read_back; // of each value: a backward step reads it
    uint64_t      random;
    int64_t       work;         // steps that may still be run, at this level,
    int64_t       spare;        // and to reach it at all
    int8_t       *best;         // modes, and their cost
    int64_t       best_cost;
} Search;

static bool evaluate(Search *s)
{
    bool is_short = modes_run(&s->m);
    s->work -= s->m.schedule.count;
    return is_short;
}

// Returns the bytes above the level, summed over the schedule's places.
static int64_t excess(const Modes *m, int64_t level)
{
    int64_t sum = 0;
    for (int32_t at = 0; at < m->schedule.count; at++)
        if (m->live[at] > level) sum += m->live[at] - level;
    return sum;
}

static void choose(Search *s)
{
    remat_choose(&s->all, s->r, &s->m.schedule, s->m.peak, s->m.cost, false);
}

// Takes a schedule of a chain of stages (remat_chain.h).
static void choose_chain(void *search, RematSchedule p)
{
    Search *s = search;
    remat_choose(&s->all, s->r, &p, remat_peak(s->r, &p, NULL),
                 remat_cost(s->r, &p), false);
}

// ---- below the level --------------------------------------------------------

// Sums bytes and places above the level before each place.
static void sum_excess(Search *s, int64_t level)
{
    const Modes *m = &s->m;
    s->above[0] = s->places[0] = 0;
    for (int32_t at = 0; at < m->schedule.count; at++) {
        int64_t over = m->live[at] - level;
        s->above[at + 1] = s->above[at] + (over > 0 ? over : 0);
        s->places[at + 1] = s->places[at] + (over > 0);
    }
}

// Returns an upper bound of the bytes above the level that are saved without
// the k-th idle value.
static double most_saved(const Search *s, int32_t k)
{
    const Modes *m = &s->m;
    int32_t from = m->idle_from[k], to = m->idle_to[k];
    double above = (double)(s->above[to] - s->above[from]);
    double bytes = (double)(s->places[to] - s->places[from]) *
                   (double)s->r->bytes[m->idle[k]];
    return bytes < above ? bytes : above;
}

// Lists the groups that made the idle values at the peak, with an upper bound
// of each one's gain.  Returns their number.
static int32_t list_candidates(Search *s)
{
    int32_t count = 0;
    const Modes *m = &s->m;
    s->listing++;
    for (int32_t k = 0; k < m->idle_count; k++) {
        int32_t v = m->idle[k];
        if (s->r->makers[v] == s->r->makers[v + 1]) continue;
        int32_t group = m->group[s->r->maker[s->r->makers[v]]];
        if (!s->may_repeat[group] || m->mode[group] == EACH_TIME) continue;
        if (s->listed[group] != s->listing) {
            s->listed[group] = s->listing;
            s->gain[group] = 0;
            s->list[count++] = group;
        }
        s->gain[group] += most_saved(s, k) / (double)s->cost[group];
    }
    return count;
}

// Swaps the group with the largest bound, of those from k on, to k.
static int32_t take_candidate(Search *s, int32_t k, int32_t count)
{
    int32_t most = k;
    for (int32_t i = k + 1; i < count; i++)
        if (s->gain[s->list[i]] > s->gain[s->list[most]]) most = i;
    int32_t group = s->list[most];
    s->list[most] = s->list[k];
    return s->list[k] = group;
}

// Returns the bytes above the level saved per cost if the group is raised by
// `by` modes; 0: none.
static double gain_of(Search *s, int32_t group, int by, int64_t level,
                      int64_t before, int64_t cost)
{
    double gain = 0;
    int8_t mode = s->m.mode[group];
    s->m.mode[group] = (int8_t)(mode + by);
    if (evaluate(s)) {
        int64_t saved = before - excess(&s->m, level);
        int64_t more = s->m.cost > cost ? s->m.cost - cost : 1;
        gain = (double)saved / (double)more;
    }
    s->m.mode[group] = mode;
    return gain > 0 ? gain : 0;
}

// Raises the group that saves the most per cost by `by` modes; false: none
// saves bytes.  Groups are tried by their bounds, until no bound exceeds the
// best gain.
static bool raise_one(Search *s, int64_t level, int32_t count, int by,
                      int64_t before, int64_t cost)
{
    int32_t best = -1;
    double most = 0;
    for (int32_t k = 0; k < count && (k < MOST_TRIED || best < 0); k++) {
        int32_t group = take_candidate(s, k, count);
        if (s->gain[group] <= most) break;
        if (s->m.mode[group] + by > EACH_TIME) continue;
        double gain = gain_of(s, group, by, level, before, cost);
        if (gain <= most) continue;
        most = gain;
        best = group;
    }
    if (best >= 0) s->m.mode[best] = (int8_t)(s->m.mode[best] + by);
    return best >= 0;
}

// Raises the best group by one mode or, if no group gains from that, by two.
static bool raise_best(Search *s, int64_t level)
{
    modes_find_idle(&s->m);
    s->work -= s->m.schedule.count;
    sum_excess(s, level);
    int64_t before = s->above[s->m.schedule.count], cost = s->m.cost;
    int32_t count = list_candidates(s);
    bool raised = raise_one(s, level, count, 1, before, cost) ||
                  raise_one(s, level, count, 2, before, cost);
    evaluate(s);
    return raised;
}

static int32_t list_raised(Search *s)
{
    int32_t count = 0;
    for (int32_t i = 0; i < s->r->backward_start; i++)
        if (s->m.mode[i] != KEPT) s->list[count++] = i;
    for (int32_t i = 1; i < count; i++) {
        int32_t group = s->list[i], k = i;
        for (; k > 0 && s->cost[s->list[k - 1]] < s->cost[group]; k--)
            s->list[k] = s->list[k - 1];
        s->list[k] = group;
    }
    return count;
}

// Returns the peak while value v, which a group recomputes, does not exist.
static int64_t most_without(const Search *s, int32_t v)
{
    const Modes *m = &s->m;
    int64_t most = 0;
    int32_t to = m->recomputed[s->r->maker[s->r->makers[v]]];
    for (int32_t at = s->last_read[v] + 1; at < to; at++)
        if (m->live[at] > most) most = m->live[at];
    return most;
}

// True if the results of the step might be kept.  There is then room for them
// where they do not exist now, or their operands could make room.
static bool could_keep(const Search *s, int32_t step, int64_t level)
{
    const Remat *r = s->r;
    int64_t room = level;
    for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++)
        room += r->bytes[r->read[k]];
    for (int32_t k = r->makes[step]; k < r->makes[step + 1]; k++) {
        int32_t v = r->make[k];
        if (s->is_read_back[v] && most_without(s, v) + r->bytes[v] > room)
            return false;
    }
    return true;
}

static void lower_all(Search *s, int64_t level)
{
    int32_t count = list_raised(s);
    if (count > MOST_LOWERED) count = MOST_LOWERED;
    for (int32_t k = 0; k < count; k++) {
        int8_t mode = s->m.mode[s->list[k]];
        int64_t cost = s->m.cost;
        bool lowered = false;
        for (int8_t to = KEPT; to < mode && !lowered; to++) {
            if (to == KEPT && !could_keep(s, s->list[k], level)) continue;
            s->m.mode[s->list[k]] = to;
            lowered = evaluate(s) && s->m.cost < cost && s->m.peak <= level;
        }
        if (lowered || s->m.mode[s->list[k]] == mode) continue;
        s->m.mode[s->list[k]] = mode;
        evaluate(s);
    }
}

// Changes the current modes until the peak is at most the level, as cheaply as
// possible.  False: that fails.
static bool settle(Search *s, int64_t level)
{
    if (!evaluate(s)) return false;
    while (s->m.peak > level) {
        if (s->work + s->spare < 0 || !raise_best(s, level)) return false;
        choose(s);
    }
    lower_all(s, level);
    choose(s);
    return true;
}

// ---- levels -----------------------------------------------------------------

static size_t mode_bytes(const Search *s)
{
    return (size_t)s->r->step_count * sizeof(int8_t);
}

static void keep_best(Search *s)
{
    if (s->m.cost >= s->best_cost) return;
    s->best_cost = s->m.cost;
    memcpy(s->best, s->m.mode, mode_bytes(s));
}

// Returns a pseudo-random number below `most`.
static int32_t draw(Search *s, int32_t most)
{
    return (int32_t)(splitmix64(&s->random) % (uint64_t)most);
}

// Lowers some groups at random.
static void shake(Search *s)
{
    int32_t raised = list_raised(s);
    int32_t count = raised > 0 ? 1 + draw(s, 1 + raised / 4) : 0;
    for (int32_t k = 0; k < count; k++)
        s->m.mode[s->list[draw(s, raised)]] = KEPT;
}

// Sets the modes of the corner of the bound's curve below the level.
static bool begin_at_corner(Search *s, int64_t level)
{
    const RematCurve *c = &s->curve;
    int32_t k = 0;
    while (k < c->count && c->point[k].bytes > level) k++;
    if (k == c->count) return false;
    memset(s->m.mode, KEPT, mode_bytes(s));
    for (int32_t i = 0; i < s->r->backward_start; i++)
        if (c->point[k].recomputed[i] && s->may_repeat[s->m.group[i]])
            s->m.mode[s->m.group[i]] = ONCE;
    return true;
}

static bool search_level(Search *s, int64_t level, int64_t work, int64_t spare)
{
    s->work = work;
    s->spare = spare;
    s->best_cost = INT64_MAX;
    if (settle(s, level)) keep_best(s);
    bool is_found = s->best_cost < INT64_MAX;
    if ((s->work > 0 || !is_found) && begin_at_corner(s, level) &&
        settle(s, level))
        keep_best(s);
    if (s->best_cost == INT64_MAX) return false;
    s->spare = 0;
    for (int failed = 0; s->work > 0 && failed < PATIENCE; failed++) {
        int64_t best = s->best_cost;
        memcpy(s->m.mode, s->best, mode_bytes(s));
        shake(s);
        if (settle(s, level)) keep_best(s);
        if (s->best_cost < best) failed = 0;
    }
    memcpy(s->m.mode, s->best, mode_bytes(s));
    evaluate(s);
    return true;
}

static void find_reads(Search *s)
{
    const Remat *r = s->r;
    s->last_read = NEW_ARRAY(r->arena, r->value_count + 1, int32_t);
    s->is_read_back = NEW_ARRAY(r->arena, r->value_count + 1, bool);
    for (int32_t k = 0; k < r->reads[r->step_count]; k++)
        if (k >= r->reads[r->backward_start])
            s->is_read_back[r->read[k]] = true;
    for (int32_t i = 0; i < r->backward_start; i++) {
        for (int32_t k = r->makes[i]; k < r->makes[i + 1]; k++)
            s->last_read[r->make[k]] = i;
        for (int32_t k = r->reads[i]; k < r->reads[i + 1]; k++)
            s->last_read[r->read[k]] = i;
    }
}

static Search new_search(const Remat *r)
{
    Search s = {.r = r, .m = modes_new(r)};
    s.list = NEW_ARRAY(r->arena, r->step_count, int32_t);
    s.may_repeat = NEW_ARRAY(r->arena, r->step_count, bool);
    s.cost = NEW_ARRAY(r->arena, r->step_count, int64_t);
    s.gain = NEW_ARRAY(r->arena, r->step_count, double);
    s.listed = NEW_ARRAY(r->arena, r->step_count, int32_t);
    s.above = NEW_ARRAY(r->arena, s.m.capacity + 1, int64_t);
    s.places = NEW_ARRAY(r->arena, s.m.capacity + 1, int32_t);
    s.best = NEW_ARRAY(r->arena, r->step_count, int8_t);
    find_reads(&s);
    for (int32_t i = 0; i < r->step_count; i++) s.may_repeat[i] = true;
    for (int32_t i = 0; i < r->step_count; i++) {
        int32_t group = s.m.group[i];
        s.may_repeat[group] &= i < r->backward_start && r->may_repeat[i];
        s.cost[group] += r->cost[i];
    }
    return s;
}

RematChoices remat_search(const Remat *r, int levels, int64_t work)
{
    Search s = new_search(r);
    evaluate(&s);
    choose(&s);
    bool is_deep = r->step_count > (work < REMAT_WORK ? MOST_QUICK_STEPS
                                                      : MOST_STEPS);
    bool is_chain = remat_chain(r, CHAIN_SUMS * work, choose_chain, &s);
    int64_t most = work / LEVEL_EVALUATIONS / (r->step_count + 1);
    if (levels > most)
        levels = most > FEWEST_LEVELS ? (int)most : FEWEST_LEVELS;
    int64_t top = s.m.peak, step = top / levels, left = work;
    bool more = step > 0 && !(is_chain && is_deep);
    if (more)
        s.curve = remat_curve(r, r->backward_start, EVERYWHERE, MOST_CUTS);
    for (int k = 1; k < levels && more; k++) {
        int64_t share = left / (levels - k);
        more = search_level(&s, top - k * step, share, left - share);
        left += s.work - share;
    }
    remat_sort_choices(&s.all);
    s.all.work = is_chain && is_deep ? work : work - left;
    return s.all;
}
