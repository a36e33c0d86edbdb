// Waits: whatever is tried goes through the passes up to a plan.  Pass together
// keeps to the order's peak, but addresses are harder to find where more is
// alive; so ways to wait are tried, and the plan of the launches apart tells
// each where values can be.
#include "waits.h"
#include "plan.h"

// Plans with the launches apart, which tells values their places: the arena.
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

static int32_t count_launches(const Graph *g)
{
    int32_t count = 0;
    for (NodeId i = 0; i < g->node_count; i++)
        if (is_launch(&g->nodes[i]) && !g->nodes[i].joined) count++;
    return count;
}

// How many launches are left if they wait as g->waits says; INT32_MAX if that
// takes more than `limit` bytes, or leaves no fewer than `best`.
static int32_t try_waits(const Graph *g, const PassOptions *o, int64_t limit,
                         int32_t best)
{
    Arena *arena = arena_new();
    Graph *joined = shared_after(g, o, true, arena);
    int32_t count = count_launches(joined);
    bool fits = count < best && plan_least(joined) <= limit &&
                (o->enabled[PASS_plan] ? plan_trial(joined)
                                       : arena_of_shared(joined, o, limit)) <=
                    limit;
    arena_free(arena);
    return fits ? count : INT32_MAX;
}

bool choose_waits(Graph *g, const PassOptions *o)
{
    static const struct Waits tries[] = {
        {true, 1000, 0},       {true, 990, 0},        {true, 950, 0},
        {true, 750, 0},        {false, 1000, 0},      {false, 990, 0},
        {false, 950, 0},       {false, 990, 100000},  {false, 950, 100000},
        {false, 750, 100000}};
    int64_t apart = plan_apart(g, o);
    int32_t fewest = INT32_MAX;
    struct Waits best = tries[0];
    for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
        g->waits = tries[k];
        int32_t count = try_waits(g, o, apart, fewest);
        if (count >= fewest) continue;
        fewest = count;
        best = tries[k];
    }
    g->waits = best;
    return fewest < INT32_MAX;
}
