// Copies of weights in 16 bits are made where the model says that a training
// step takes less time with them.  They take 2 bytes a weight.  So the
// option --prefer memory excludes them, and so does level 0 of a budget
// (decide_prologue.c).  The default, balanced, takes them if the peak grows by
// at most 4 %.  The peak is that of the later passes on copies of the graph,
// with all values on load and without a search for offsets.  It grows by the
// bytes of the copies at most, so that often one peak is enough.
#include "decide_round_weights.h"
#include "decide_prologue.h"
#include "../../ir/base/sizes.h"
#include "../../ir/dtype.h"
#include "../trial.h"

enum { GROWTH = 25 };           // balanced: the peak may grow by 1/25

// True if copies save time.  Sets *bytes to their sum.
static bool saves_time(const Graph *g, const PassOptions *o, int64_t *bytes)
{
    Arena *arena = arena_new();
    Graph *copy = nameless_copy(g, arena);
    pass_round_weights(copy, o);
    *bytes = 0;
    for (ValueId v = g->value_count; v < copy->value_count; v++)
        *bytes = capped_sum(*bytes, padded(value_bytes(&copy->values[v])));
    bool saves = copy->node_count > g->node_count &&
                 time_of_launches(copy) < time_of_launches(g);
    arena_free(arena);
    return saves;
}

static int64_t peak_with(const Graph *g, const PassOptions *o, bool copies)
{
    Arena *arena = arena_new();
    PassOptions trial = *o;
    trial.enabled[PASS_round_weights] = copies;
    int64_t bytes =
        least_from(nameless_copy(g, arena), &trial, PASS_round_weights);
    arena_free(arena);
    return bytes;
}

PassDecision decide_round_weights(Graph *g, const PassOptions *o)
{
    int64_t bytes;
    if (g->mode != TRAIN || !is_half(g->map) || stores_least(g, o) ||
        !saves_time(g, o, &bytes))
        return PASS_IS_LEFT_OUT;
    if (o->prefer == PREFER_BALANCED && !has_limit(o)) {
        int64_t least = peak_with(g, o, false);
        g->decisions.least_peak = least;
        if (bytes > least / GROWTH &&
            peak_with(g, o, true) > least + least / GROWTH)
            return PASS_IS_LEFT_OUT;
    }
    g->decisions.rounds_weights = true;
    return PASS_RUNS;
}
