// Chooses the slices of the batch for a budget.
//
// Slices cost launches, and additions of weight gradients, but a slice that is
// recomputed needs only the bytes of one slice.  This pays most for the largest
// maps, so a candidate is a number of slices and the smallest map, in pixels,
// that is split.  Each candidate is compiled like any other graph, with two
// exceptions.  One that is as slow as the best so far without recomputation is
// skipped.  So are the schedules of a candidate that are as slow as the best.
//
// The candidates do not depend on the budget, and the cheapest that fits is
// taken, so more memory never costs more.  Their number and the number of their
// nodes limit the work, and the searches for schedules and offsets are short
// for each.  A candidate whose lower bound exceeds the smallest arena so far is
// not searched.
#include "../batch_split.h"
#include "../trial.h"
#include "../../ir/gpu/overhead.h"
#include "../offload/host_budget.h"
#include "../remat/remat_schedule.h"

enum {
    MOST_CANDIDATES = 10,
    MOST_LEVELS = 5,            // of pixels
    LEAST_PART = 16,            // the maps in slices must have 1/16 of all
                                // maps' bytes
    MOST_NODES = 2400,          // maximum of nodes in slices, of a candidate
    ALL_NODES = 12800,          // and of all candidates
    RECOMPUTED = 8              // a node that may be recomputed counts as 8
};

typedef struct Candidate {
    int64_t samples, pixels;
} Candidate;

typedef struct SplitSearch {
    Graph             *g;
    const PassOptions *o;
    Compile           *compile;
    Candidate          candidate[MOST_CANDIDATES];
    int                count;
} SplitSearch;

// ---- candidates -------------------------------------------------------------

// Returns the bytes of all results of a forward graph, stored or not.
static int64_t all_bytes(const Graph *g)
{
    int64_t bytes = 0;
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].def != NONE) bytes += value_bytes(&g->values[v]);
    return bytes;
}

// Lists sizes of maps, largest first, at which more nodes are split than at the
// size before, and enough bytes.  Returns their number.
static int list_levels(const Graph *g, int64_t level[MOST_LEVELS])
{
    int count = 0;
    int64_t below = INT64_MAX, least = all_bytes(g) / LEAST_PART;
    int32_t nodes = 0;
    while (count < MOST_LEVELS) {
        int64_t next = 0;
        for (NodeId i = 0; i < g->node_count; i++) {
            int64_t pixels = split_pixels(g, &g->nodes[i]);
            if (pixels < below && pixels > next) next = pixels;
        }
        if (next == 0) break;
        below = next;
        SplitSize size = split_size(g, next);
        if (size.nodes <= nodes || size.bytes < least) continue;
        level[count++] = next;
        nodes = size.nodes;
    }
    return count;
}

static bool recomputes(const SplitSearch *s)
{
    return s->g->mode == TRAIN && s->o->enabled[PASS_checkpoint] &&
           s->o->checkpoint.kind != CHECKPOINT_OFF;
}

// Lists candidates with few slices first, which are searched fastest.  Two
// slices are seldom useful and come last.
static void list_candidates(SplitSearch *s)
{
    static const int64_t slices[] = { 4, 8, 16, 2 };
    int64_t level[MOST_LEVELS], left = ALL_NODES;
    int levels = list_levels(s->g, level);
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
        for (int j = 0; j < levels && s->count < MOST_CANDIDATES; j++) {
            SplitSize size = split_size(s->g, level[j]);
            int64_t nodes = size.nodes;
            if (recomputes(s)) nodes += (RECOMPUTED - 1) * size.trained;
            nodes *= slices[i];
            if (slices[i] > s->g->batch || nodes > MOST_NODES || nodes > left)
                continue;
            left -= nodes;
            s->candidate[s->count++] = (Candidate){
                ceil_div(s->g->batch, slices[i]), level[j] };
        }
}

// ---- results of candidates --------------------------------------------------

// Keeps the schedule found without slices, so that the search is not repeated.
static void keep_settled(Graph *g, const Graph *copy)
{
    if (copy->decisions.fit == NULL ||
        copy->decisions.offloading != NULL) return;
    Fit *fit = NEW(g->arena, Fit);
    *fit = *copy->decisions.fit;
    g->decisions.settled = fit;
    if (copy->decisions.remat_schedule == NULL) return;
    g->decisions.settled_schedule =
        remat_schedule_copy(g->arena, copy->decisions.remat_schedule);
}

// Compiles a copy of the graph with candidate c.  o: without its output
// options.
static Outcome outcome_with(const SplitSearch *s, Candidate c,
                            const PassOptions *o)
{
    Arena *arena = arena_new();
    Graph *copy = graph_copy(s->g, arena);
    copy->decisions.settled = NULL;
    copy->decisions.split_samples = c.samples;
    copy->decisions.split_pixels = c.pixels;
    Outcome outcome = compile_trial(copy, o, s->compile);
    if (c.samples == 0 && has_limit(o) && o->offload == s->o->offload)
        keep_settled(s->g, copy);
    arena_free(arena);
    return outcome;
}

// Returns the time of a step without recomputation; it does not depend on the
// order.
static int64_t time_once(const SplitSearch *s, Candidate c)
{
    PassOptions o = *s->o;
    o.stop_after = passes[PASS_elide_copies].name;
    return outcome_with(s, c, &o).time;
}

static bool is_better(const SplitSearch *s, Candidate c, bool offload,
                      const Outcome *best, Outcome *outcome)
{
    PassOptions o = *s->o;
    o.offload = offload;
    bool any_fits = best->arena_bytes <= o.budget;
    o.stop_after = NULL;
    o.quick = o.trial = true;
    o.most_bytes = best->arena_bytes;
    if (any_fits) {
        if (time_once(s, c) >= best->time) return false;
        o.most_time = best->time;
    }
    *outcome = outcome_with(s, c, &o);
    return is_better_outcome(outcome, best, o.budget);
}

static void keep_whole(Graph *g, const Outcome *whole)
{
    g->decisions.whole_bytes = whole->arena_bytes;
    g->decisions.whole_time = whole->time;
    g->decisions.whole_flops = whole->flops;
}

// Returns the outcome without slices and without offloading.
static Outcome outcome_in_arena(const SplitSearch *s, const PassOptions *once)
{
    PassOptions apart = *once;
    apart.offload = false;
    return outcome_with(s, (Candidate){ 0, 0 }, &apart);
}

// True if a candidate is better than no slices; *found is the best.  apart:
// maps are not offloaded in these trials, whatever the options say.
static bool find_candidate(const SplitSearch *s, const PassOptions *once,
                           bool apart, const Outcome *unsliced,
                           Candidate *found)
{
    Outcome best = *unsliced, outcome;
    bool any = false, offload = once->offload && !apart;
    if (apart && best.arena_bytes > once->budget && recomputes(s))
        best = outcome_in_arena(s, once);
    for (int i = 0; i < s->count; i++) {
        if (!is_better(s, s->candidate[i], offload, &best, &outcome)) continue;
        any = true;
        best = outcome;
        *found = s->candidate[i];
    }
    return any;
}

void choose_split(Graph *g, const PassOptions *o, Compile *compile)
{
    SplitSearch s = { .g = g, .o = o, .compile = compile };
    if (!has_limit(o) || !o->enabled[PASS_batch_split] ||
        g->decisions.split_samples != 0 || g->facts != 0 || g->batch < 2 ||
        o->checkpoint.kind == CHECKPOINT_MARKED)
        return;
    list_candidates(&s);
    if (s.count == 0) return;
    PassOptions once = *o;
    once.budget = 0;
    once.smallest = false;
    once.prefer = PREFER_MEMORY;
    once.stop_after = NULL;
    Candidate found = { 0, 0 };
    Outcome whole = outcome_with(&s, found, &once), outcome;
    if (whole.arena_bytes <= o->budget) return;
    once.budget = o->budget;
    once.smallest = o->smallest;
    once.prefer = o->prefer;
    Outcome unsliced = recomputes(&s)
                           ? outcome_with(&s, (Candidate){ 0, 0 }, &once)
                           : whole;
    // --offload doubles the time of each candidate.  For large graphs it is
    // tried only with the best one.
    bool apart = o->offload && g->node_count > SMALL_GRAPH;
    if (find_candidate(&s, &once, apart, &unsliced, &found) &&
        (!apart || is_better(&s, found, true, &unsliced, &outcome))) {
        g->decisions.split_samples = found.samples;
        g->decisions.split_pixels = found.pixels;
    }
    if (g->decisions.split_samples > 0) {
        g->decisions.settled = NULL;
        keep_whole(g, &whole);
    }
}

void settle_split(Graph *g, const PassOptions *o, Compile *compile)
{
    SplitSearch s = { .g = g, .o = o, .compile = compile };
    Candidate asked = { g->decisions.split_samples, g->decisions.split_pixels };
    PassOptions all = *o, once = *o;
    all.stop_after = once.stop_after = NULL;
    all.quick = true;
    once.budget = 0;
    once.smallest = false;
    once.prefer = PREFER_MEMORY;
    Outcome none = outcome_with(&s, (Candidate){ 0, 0 }, &all), sliced = none;
    Outcome whole = none;
    if (has_limit(o)) whole = outcome_with(&s, (Candidate){ 0, 0 }, &once);
    if (!o->enabled[PASS_batch_split] || split_size(g, asked.pixels).nodes == 0)
        g->decisions.split_pixels = 0;
    else
        sliced = outcome_with(&s, asked, &all);
    if (!is_better_outcome(&sliced, &none, o->budget))
        g->decisions.split_samples = 0;
    g->decisions.settled = NULL;
    keep_whole(g, &whole);
}
