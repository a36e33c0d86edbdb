// Chooses a schedule and offloaded maps for a budget.
//
// A few recomputation schedules are tried, from the one without recomputation
// to the one with the fewest bytes.  Each is put into the order that pass
// schedule finds for it, and maps are offloaded until the rest fits by the
// model (host_model.c).  Then the whole arena counts; if it exceeds the budget,
// the model gets a lower limit.  The cheapest result is taken, by the time of
// recomputation and of waits for copies.
//
// This is a heuristic, and with offloading more memory may cost more.  Equal
// graphs have equal results, and the numbers below limit the work.
#include "host_budget.h"
#include "../../ir/gpu/gpu_model.h"
#include "../trial.h"

enum {
    MOST_SCHEDULES = 12,        // schedules that are tried
    QUICK_STRIDE = 4,           // if only sizes are needed, every fourth of a
                                // large graph's schedules is tried, and the
                                // last
    MOST_TRIES = 8,             // for each schedule
    PARTS = 16,                 // 1/16 of the level is offloaded more
};

typedef struct HostSearch {
    const HostProblem *p;
    PassOptions        near;    // measures arenas to within 1/1000
    HostSchedule best;          // fits, or has the smallest arena
    bool        smallest;       // the search is for the fewest bytes
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

// Returns the arena to within 1/1000.  For the fewest bytes, a whole arena that
// fits counts instead: a refusal names the arena of the plan.
static int64_t arena_near(const HostSearch *s, const Graph *offloaded,
                          int64_t limit)
{
    int64_t near = arena_of_ordered(offloaded, &s->near, limit);
    if (!s->smallest || near <= s->p->budget) return near;
    int64_t whole = arena_of_ordered(offloaded, s->p->o, s->p->budget);
    return whole <= s->p->budget ? whole : near;
}

// Returns the result of m's offloading; keeps it if it is the best so far.
// Offsets are searched only if it may be; otherwise it is said to fit.
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

// Offloads more than necessary while launches wait for copies, so that copies
// in flight have room.
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

// Offloads all candidates, each copied out at once and back at the last moment:
// no level is lower.
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

// Returns the k-th schedule to try, out of the `brief` ones that a short search
// finds; so a whole search offloads no less.
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
