// The search for what to compute again, on any graph.
//
// Each group of forward steps has a mode (remat_modes.h): what it makes is
// kept, is computed again once, when it is first read after the forward pass,
// or each time that it is read.  The search goes down from the peak of the
// program that computes nothing again, from one level of bytes to the next.  At
// each level
//
//   - where the bytes alive pass it, some group whose results lie there unread
//     is raised to its next mode: the one that saves most of the bytes above
//     the level for its cost, until all is below the level;
//   - modes that turn out not to be needed are lowered, the dearest first;
//   - some modes are lowered at random, and both is done again, as long as the
//     level's share of the work lasts.  The cheapest stays.
//
// Nets that are chains of stages have programs from remat_chain.h beside these;
// very deep ones have no others.
//
// It begins at each level with the modes of the level before and, apart, with
// what the bound says is best while the first backward step runs, where the two
// meet.
#include "remat_search.h"
#include <stdlib.h>
#include <string.h>
#include "remat_bound.h"
#include "remat_chain.h"
#include "remat_modes.h"

enum {
    MOST_TRIED = 96,            // groups that are tried before one is raised
    MOST_LOWERED = 400,         // and that are tried to be lowered, at once
    MOST_CUTS = 64,             // for the curve that it begins with
    WORK = 100000000,           // steps that are run, in all
    PATIENCE = 16,              // shakes in vain before a level is left
    DEEP = 6000,                // steps of a chain for which its own programs
                                // are better than what so much work finds
};

typedef struct Search {
    const Remat  *r;
    Modes         m;
    RematChoices  all;
    RematCurve    curve;        // at the turn
    int32_t      *list;         // of groups, room for all
    bool         *may_repeat;   // of each group, as of its steps
    int64_t      *cost;
    double       *bytes;        // that it makes
    uint64_t      random;
    int64_t       work, enough; // steps that may yet be run; what is to be left
                                // for the levels that come
    int8_t       *best;         // modes, and what they cost
    int64_t       best_cost;
} Search;

static bool evaluate(Search *s)
{
    s->work -= s->r->step_count;
    return modes_run(&s->m);
}

// Bytes above the level, summed over the program's places.
static int64_t excess(const Modes *m, int64_t level)
{
    int64_t sum = 0;
    for (int32_t at = 0; at < m->program.count; at++)
        if (m->live[at] > level) sum += m->live[at] - level;
    return sum;
}

// ---- choices ----------------------------------------------------------------

static bool is_news(const RematChoices *all, const RematChoice *choice)
{
    for (int32_t k = 0; k < all->count; k++)
        if (all->choice[k].peak <= choice->peak &&
            all->choice[k].cost <= choice->cost)
            return false;
    return true;
}

static void add_choice(Search *s, RematChoice choice)
{
    RematChoices *all = &s->all;
    all->choice = arena_grow(s->r->arena, all->choice, &all->capacity,
                             (int64_t)all->count + 1, sizeof(RematChoice));
    all->choice[all->count++] = choice;
}

static void choose(Search *s)
{
    const RematProgram *p = &s->m.program;
    RematChoice choice = {.peak = s->m.peak, .cost = s->m.cost};
    if (!is_news(&s->all, &choice)) return;
    choice.program = (RematProgram){
        p->count, NEW_ARRAY(s->r->arena, p->count, int32_t)};
    memcpy(choice.program.step, p->step, (size_t)p->count * sizeof(int32_t));
    add_choice(s, choice);
}

// A program of the stages that there are (remat_chain.h).
static void choose_chain(void *search, RematProgram p)
{
    Search *s = search;
    RematChoice choice = {p, remat_peak(s->r, &p, NULL), remat_cost(s->r, &p)};
    if (is_news(&s->all, &choice)) add_choice(s, choice);
}

static int compare_choices(const void *a, const void *b)
{
    const RematChoice *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return x->peak < y->peak ? -1 : x->peak > y->peak;
}

static void sort_choices(RematChoices *all)
{
    int32_t count = 0;
    qsort(all->choice, (size_t)all->count, sizeof *all->choice,
          compare_choices);
    for (int32_t k = 0; k < all->count; k++)
        if (count == 0 || all->choice[k].peak < all->choice[count - 1].peak)
            all->choice[count++] = all->choice[k];
    all->count = count;
}

// ---- below the level --------------------------------------------------------

// The groups that could be raised where most is alive: those that made what
// lies there unread.  Returns how many.
static int32_t list_candidates(Search *s)
{
    int32_t count = 0;
    const Modes *m = &s->m;
    for (int32_t k = 0; k < m->idle_count; k++) {
        int32_t v = m->idle[k];
        if (s->r->makers[v] == s->r->makers[v + 1]) continue;
        int32_t group = m->group[s->r->maker[s->r->makers[v]]], i = 0;
        if (!s->may_repeat[group] || m->mode[group] == EACH_TIME) continue;
        while (i < count && s->list[i] != group) i++;
        if (i == count) s->list[count++] = group;
    }
    return count;
}

// A guess of what raising a group gains: bytes for its own cost.
static double worth(const Search *s, int32_t group)
{
    return s->bytes[group] / (double)s->cost[group];
}

static bool is_worthier(const Search *s, int32_t a, int32_t b)
{
    double x = worth(s, a), y = worth(s, b);
    return x != y ? x > y : a < b;
}

static void sort_by_worth(Search *s, int32_t count)
{
    for (int32_t i = 1; i < count; i++) {
        int32_t group = s->list[i], k = i;
        for (; k > 0 && is_worthier(s, group, s->list[k - 1]); k--)
            s->list[k] = s->list[k - 1];
        s->list[k] = group;
    }
}

// Raises the group that saves most for its cost; false: none saves anything.
static bool raise_best(Search *s, int64_t level)
{
    modes_find_idle(&s->m);
    int64_t before = excess(&s->m, level), cost = s->m.cost;
    int32_t count = list_candidates(s), best = -1;
    double most = 0;
    sort_by_worth(s, count);
    if (count > MOST_TRIED) count = MOST_TRIED;
    for (int32_t k = 0; k < count; k++) {
        int32_t group = s->list[k];
        s->m.mode[group]++;
        if (evaluate(s)) {
            int64_t saved = before - excess(&s->m, level);
            int64_t more = s->m.cost > cost ? s->m.cost - cost : 1;
            double gain = (double)saved / (double)more;
            if (saved > 0 && gain > most) most = gain, best = group;
        }
        s->m.mode[group]--;
    }
    if (best >= 0) s->m.mode[best]++;
    evaluate(s);
    return best >= 0;
}

static int32_t list_raised(Search *s)
{
    int32_t count = 0;
    for (int32_t i = 0; i < s->r->turn; i++)
        if (s->m.mode[i] != KEPT) s->list[count++] = i;
    for (int32_t i = 1; i < count; i++) {
        int32_t group = s->list[i], k = i;
        for (; k > 0 && s->cost[s->list[k - 1]] < s->cost[group]; k--)
            s->list[k] = s->list[k - 1];
        s->list[k] = group;
    }
    return count;
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
            s->m.mode[s->list[k]] = to;
            lowered = evaluate(s) && s->m.cost < cost && s->m.peak <= level;
        }
        if (lowered) continue;
        s->m.mode[s->list[k]] = mode;
        evaluate(s);
    }
}

// From the modes that there are to such as stay below the level, as cheap as
// can be.  False: it does not get there.
static bool settle(Search *s, int64_t level)
{
    if (!evaluate(s)) return false;
    while (s->m.peak > level) {
        if (s->work < s->enough || !raise_best(s, level)) return false;
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

// Pseudo-random, below `most` (Vigna, splitmix64).
static int32_t draw(Search *s, int32_t most)
{
    uint64_t x = s->random += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (int32_t)((x ^ (x >> 31)) % (uint64_t)most);
}

// Lowers some of what is raised.
static void shake(Search *s)
{
    int32_t raised = list_raised(s);
    int32_t count = raised > 0 ? 1 + draw(s, 1 + raised / 4) : 0;
    for (int32_t k = 0; k < count; k++)
        s->m.mode[s->list[draw(s, raised)]] = KEPT;
}

// What the bound's curve has for so many bytes: its corner below them.
static bool begin_at_corner(Search *s, int64_t level)
{
    const RematCurve *c = &s->curve;
    int32_t k = 0;
    while (k < c->count && c->point[k].bytes > level) k++;
    if (k == c->count) return false;
    memset(s->m.mode, KEPT, mode_bytes(s));
    for (int32_t i = 0; i < s->r->turn; i++)
        if (c->point[k].again[i] && s->may_repeat[s->m.group[i]])
            s->m.mode[s->m.group[i]] = ONCE;
    return true;
}

// share: of the work that is left, one part of so many is for this level.  To
// get below it at all may take more.
static bool search_level(Search *s, int64_t level, int share)
{
    int64_t left = s->work;
    s->enough = 0;
    s->best_cost = INT64_MAX;
    if (settle(s, level)) keep_best(s);
    if (begin_at_corner(s, level) && settle(s, level)) keep_best(s);
    if (s->best_cost == INT64_MAX) return false;
    s->enough = left - left / share;
    for (int failed = 0; s->work > s->enough && failed < PATIENCE; failed++) {
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

static Search new_search(const Remat *r)
{
    Search s = {.r = r, .m = modes_new(r), .work = WORK};
    s.list = NEW_ARRAY(r->arena, r->step_count, int32_t);
    s.may_repeat = NEW_ARRAY(r->arena, r->step_count, bool);
    s.cost = NEW_ARRAY(r->arena, r->step_count, int64_t);
    s.bytes = NEW_ARRAY(r->arena, r->step_count, double);
    s.best = NEW_ARRAY(r->arena, r->step_count, int8_t);
    for (int32_t i = 0; i < r->step_count; i++) s.may_repeat[i] = true;
    for (int32_t i = 0; i < r->step_count; i++) {
        int32_t group = s.m.group[i];
        s.may_repeat[group] &= r->may_repeat[i] && i < r->turn;
        s.cost[group] += r->cost[i];
        for (int32_t k = r->makes[i]; k < r->makes[i + 1]; k++)
            s.bytes[group] += (double)r->bytes[r->make[k]];
    }
    return s;
}

RematChoices remat_search(const Remat *r, int levels)
{
    Search s = new_search(r);
    evaluate(&s);
    choose(&s);
    bool is_chain = remat_chain(r, choose_chain, &s);
    int64_t top = s.m.peak, step = top / levels;
    bool more = step > 0 && !(is_chain && r->step_count > DEEP);
    if (more) s.curve = remat_curve(r, r->turn, EVERYWHERE, MOST_CUTS);
    for (int k = 1; k < levels && more; k++)
        more = search_level(&s, top - k * step, levels - k);
    sort_choices(&s.all);
    return s.all;
}
