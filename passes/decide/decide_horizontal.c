// Chooses how long launches wait for horizontal fusion.  Each setting runs
// through the passes up to a plan.  Pass fuse_horizontal keeps the peak of the
// order, but offsets are harder to find with more live bytes.  The plan without
// fusion gives each value a hint for its offset.
#include "decide_horizontal.h"
#include "../placement/arena_estimate.h"
#include "../trial.h"

enum { MOST_NODES = 1 << 17 };  // of all settings that are tried; at least one
                                // is

// Plans a copy without fusion and sets the offsets of g's values as hints.
// Returns its arena in bytes.
static int64_t plan_apart(Graph *g, const PassOptions *o)
{
    Arena *arena = arena_new();
    Graph *apart = shared_after(g, o, false, arena);
    int64_t bytes = arena_of_shared(apart, o, INT64_MAX);
    for (ValueId v = 0; v < g->value_count; v++)
        if (!apart->values[v].persistent)
            g->values[v].offset = apart->values[v].offset;
    arena_free(arena);
    return bytes;
}

// True if a short search finds a plan of at most `limit` bytes with launches
// that wait as g->decisions.waits says.
static bool may_wait(const Graph *g, const PassOptions *o, int64_t limit)
{
    Arena *arena = arena_new();
    Graph *grouped = shared_after(g, o, true, arena);
    int64_t bytes = plan_least(grouped);
    if (bytes <= limit)
        bytes = o->enabled[PASS_assign_offsets]
                    ? plan_trial(grouped, o)
                    : arena_of_shared(grouped, o, limit);
    arena_free(arena);
    return bytes <= limit;
}

static bool choose_waits(Graph *g, const PassOptions *o)
{
    // From the fewest launches to the shortest waits.
    static const struct Waits tries[] = {
        {true, 1000, 0},       {true, 999, 0},        {true, 995, 0},
        {true, 990, 0},        {true, 950, 0},        {true, 750, 0},
        {false, 1000, 0},      {false, 990, 0},       {false, 950, 0},
        {false, 990, 100000},  {false, 950, 100000},  {false, 750, 100000}};
    int64_t apart = plan_apart(g, o);
    int64_t all = sizeof tries / sizeof *tries, count = all;
    if (g->node_count > MOST_NODES / all) count = MOST_NODES / g->node_count;
    // A plan over the budget is refused, so one attempt is enough.
    if (count < 1 || (has_limit(o) && apart > o->budget)) count = 1;
    for (int64_t k = 0; k < count; k++) {
        g->decisions.waits = tries[count > 1 ? k * (all - 1) / (count - 1) : 0];
        if (may_wait(g, o, apart)) return true;
    }
    // Without hints a large graph gets the plan apart once more.
    for (ValueId v = 0; v < g->value_count && g->node_count > MANY_NODES; v++)
        if (!g->values[v].persistent) g->values[v].offset = NONE;
    return false;
}

PassDecision decide_waits(Graph *g, const PassOptions *o)
{
    if (g->mode == INFER) return PASS_RUNS;
    return !is_only_named(g) && choose_waits(g, o) ? PASS_RUNS
                                                   : PASS_IS_LEFT_OUT;
}
