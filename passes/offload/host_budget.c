// Host memory for a budget: which schedule, and which maps go there.
//
// A few of the schedules that compute something again are looked at, from the
// one that computes nothing to the one with the fewest bytes.  For each, in the
// order that schedule finds for it, maps are offloaded until the model says
// that the rest fits (host_model.c); then the whole arena counts, and where
// that is above the budget the model is asked for less.  The cheapest is taken,
// by the time of what runs again and that for which launches wait.
//
// Nothing here is optimal, and more memory may cost more where maps are
// offloaded.  It is the same for equal graphs, and the numbers below bound its
// work.
#include "host_budget.h"
#include "../../ir/gpu/gpu_model.h"
#include "../trial.h"

enum {
    MOST_SCHEDULES = 12,        // that are looked at
    QUICK_STRIDE = 4,           // of large graphs, where sizes alone are asked
                                // for: each so many-th of them, and the last
    MOST_TRIES = 8,             // for each
    PARTS = 16,                 // of the level that are offloaded more
};

typedef struct HostSearch {
    const HostProblem *p;
    PassOptions        near;    // for arenas to within a thousandth
    HostSchedule best;          // .fits, or with the smallest arena
    bool        smallest;       // what has the fewest bytes is looked for
} HostSearch;

static bool is_better(const HostSchedule *a, const HostSchedule *b)
{
    if (a->fits != b->fits) return a->fits;
    return a->fits ? a->cost < b->cost : a->arena < b->arena;
}

static Offloading *offloading_of(const HostSearch *s, const HostModel *m,
                                 int64_t level)
{
    Arena *arena = s->p->g->arena;
    Offloading *offloading = NEW(arena, Offloading);
    *offloading = (Offloading){ .level = level };
    offloading->value = NEW_ARRAY(arena, m->stay_count, ValueId);
    for (int32_t i = 0; i < m->stay_count; i++)
        if (m->stay[i].offloaded)
            offloading->value[offloading->count++] = m->stay[i].value;
    return offloading;
}

// Of those with the fewest bytes the whole arena counts where it could fit: a
// refusal names that of the plan.
static int64_t arena_near(const HostSearch *s, const Graph *offloaded,
                          int64_t limit)
{
    int64_t near = arena_offloaded(offloaded, &s->near, limit);
    if (!s->smallest || near <= s->p->budget) return near;
    int64_t whole = arena_offloaded(offloaded, s->p->o, s->p->budget);
    return whole <= s->p->budget ? whole : near;
}

// What m has offloaded, kept if it is the best so far.  Addresses are looked
// for only if it might be: else it is said to fit.
static HostSchedule offer(HostSearch *s, int32_t choice, const Graph *ordered,
                          const HostModel *m, int64_t level, int64_t limit)
{
    Arena *arena = arena_new();
    HostSchedule found = { .choice = choice, .fits = true, .arena = 0 };
    found.offloading = offloading_of(s, m, level);
    Graph *offloaded =
        offloaded_with(ordered, s->p->o, found.offloading, arena);
    found.cost = capped_sum(s->p->all->choice[choice].cost,
                            host_use(offloaded).waiting);
    if (is_better(&found, &s->best)) {
        found.arena = arena_near(s, offloaded, limit);
        found.fits = found.arena <= s->p->budget;
        if (found.arena <= limit && is_better(&found, &s->best))
            s->best = found;
    }
    arena_free(arena);
    return found;
}

// As long as launches wait for copies more is offloaded than must be, so that
// there is room for copies under way.
static void try_budget(HostSearch *s, int32_t choice, const Graph *ordered,
                       HostModel *m)
{
    int64_t level = s->p->budget - s->p->state, target = level;
    for (int k = 0; k < MOST_TRIES && target > 0; k++) {
        if (!host_choose(m, target)) return;
        host_layout(m, level);
        HostSchedule found = offer(s, choice, ordered, m, level, s->p->budget);
        if (!found.fits) level -= found.arena - s->p->budget;
        else if (found.cost == s->p->all->choice[choice].cost) return;
        target = found.fits ? target - level / PARTS
                            : target < level ? target : level;
    }
}

// All that stays leaves at once, and comes back at the last moment: no level is
// lower.
static void try_smallest(HostSearch *s, int32_t choice, const Graph *ordered,
                         HostModel *m)
{
    for (int32_t i = 0; i < m->stay_count; i++) m->stay[i].offloaded = true;
    int64_t least = host_layout(m, 0);
    if (s->p->state + least < s->best.arena && host_choose(m, least))
        offer(s, choice, ordered, m, least, s->best.arena - 1);
}

static void try_choice(HostSearch *s, int32_t choice, bool smallest)
{
    Arena *arena = arena_new();
    const RematSchedule *schedule =
        choice > 0 ? &s->p->all->choice[choice].schedule : NULL;
    Graph *ordered = ordered_with(s->p->g, s->p->o, schedule, arena);
    HostModel m = host_model(shared_after(ordered, s->p->o, false, arena));
    if (smallest) try_smallest(s, choice, ordered, &m);
    else try_budget(s, choice, ordered, &m);
    arena_free(arena);
}

// The k-th of those that are looked at, in so many schedules that a short
// search
// has: a whole search offloads no less.
static int32_t looked_at(const RematChoices *all, int32_t brief, int32_t k)
{
    int32_t before = (brief - 1) * k / (MOST_SCHEDULES - 1), choice = 0;
    for (;; choice++)
        if (all->choice[choice].brief && before-- == 0) return choice;
}

static bool is_left_out(const HostSearch *s, int32_t k)
{
    return s->p->o->quick && s->p->g->node_count > SMALL_GRAPH &&
           k % QUICK_STRIDE != 0 && k != MOST_SCHEDULES - 1;
}

static void try_all(HostSearch *s, bool smallest)
{
    const RematChoices *all = s->p->all;
    int32_t brief = 0, before = NONE;
    for (int32_t k = 0; k < all->count; k++) brief += all->choice[k].brief;
    s->smallest = smallest;
    for (int32_t k = 0; k < MOST_SCHEDULES; k++) {
        if (is_left_out(s, k)) continue;
        int32_t choice = looked_at(all, brief, k);
        if (choice == before) continue;
        before = choice;
        if (!smallest && s->best.fits &&
            all->choice[choice].cost >= s->best.cost)
            return;
        try_choice(s, choice, smallest);
    }
}

HostSchedule host_schedule(const HostProblem *p, HostSchedule without)
{
    HostSearch s = { .p = p, .near = *p->o, .best = without };
    s.near.near = true;
    if (p->budget > p->state) try_all(&s, false);
    if (!s.best.fits) try_all(&s, true);
    return s.best;
}
