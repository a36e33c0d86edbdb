// Stages as a chain: finds the ways to run each stage, with their steps, costs
// and bytes.
//
// The most expensive way keeps all operands of the stage's backward steps.
// From there one value after another is no longer kept: first the one with the
// most bytes for the cost of its recomputation.  Some of the ways found are the
// stage's.  A turn is such a way and its backward steps in one run.
#include "../../ir/base/sizes.h"
#include "stage_steps.h"

enum {
    MOST_WAYS = 6,              // of a stage
    MOST_TRIED = 48,            // values that are evaluated at a time,
    FEW_TRIED = 4,              // and of very long stages, where that looks at
    MOST_LOOKS = 1 << 25        // more than this many steps
};

// ---- ways -------------------------------------------------------------------

static void raise_peak(ChainPeak *peak, ChainPeak other)
{
    peak->held = larger(peak->held, other.held);
    peak->last = larger(peak->last, other.last);
}

static RematWay way_of(RematRuns *g)
{
    RematWay way;
    way.forward = remat_runs_forward(g, true, true);
    way.kept = remat_runs_forward(g, false, true);
    way.backward = remat_runs_backward(g);
    return way;
}

static int64_t kept_bytes(const RematRuns *g)
{
    int64_t bytes = 0;
    for (int32_t k = 0; k < g->value_count; k++)
        if (g->keep[g->value[k]] && g->value[k] != g->output)
            bytes += g->s->counted.bytes[g->value[k]];
    return bytes;
}

// Raises the peak of a backward run by the kept values: they count throughout,
// even if a recomputed step remakes one.
static void count_kept(ChainWay *w, const ChainStage *stage, int64_t input)
{
    int64_t read = w->kept + stage->gradient +
                   (w->reads_output ? stage->output : 0);
    raise_peak(&w->in_backward, (ChainPeak){ read, read + input });
}

static ChainWay chain_way_of(RematRuns *g, const RematWay *way,
                             const RematList *first, const ChainStage *stage,
                             int64_t scale)
{
    const Remat *r = g->s->r;
    ChainWay w = {.forward = remat_list_cost(r, &way->forward) / scale,
                  .backward = remat_list_cost(r, &way->backward) / scale,
                  .kept = kept_bytes(g)};
    RematLeft forward = {.output = true, .kept = true};
    RematLeft back = {.gradient = true};
    w.in_forward = remat_runs_peak(g, &way->forward, forward);
    raise_peak(&w.in_forward, remat_runs_peak(g, first, forward));
    w.in_backward = remat_runs_peak(g, &way->backward, back);
    w.reads_output = g->keep[g->output];
    w.reads_input = g->input != NO_VALUE &&
                    remat_list_reads(r, &way->backward, g->input);
    count_kept(&w, stage,
               w.reads_input ? g->s->counted.bytes[g->input] : 0);
    return w;
}

static ChainTurn chain_turn_of(RematRuns *g, const RematWay *way,
                               const RematList *first, int64_t scale)
{
    bool is_last = g->output == NO_VALUE;
    RematList run = remat_runs_joined(g, is_last ? first : &way->kept,
                                      &way->backward);
    ChainTurn turn = {.cost = remat_list_cost(g->s->r, &run) / scale};
    turn.peak = remat_runs_peak(g, &run, (RematLeft){.gradient = true});
    return turn;
}

// Keeps all values that the stage's backward steps read.
static void keep_all(RematRuns *g)
{
    const RematStages *s = g->s;
    const Remat *r = s->r;
    for (int32_t i = s->backward[g->stage + 1]; i < s->backward[g->stage]; i++)
        for (int32_t k = r->reads[i]; k < r->reads[i + 1]; k++)
            if (g->own[r->read[k]])
                g->keep[r->read[k]] = true;
}

// Stops keeping the value with the most bytes for its recomputation's cost;
// false: no value is kept.
static bool drop_one(RematRuns *g)
{
    const Remat *r = g->s->r;
    int64_t cost = remat_backward_cost(g);
    int32_t best = NO_VALUE, tried = 0;
    int32_t tries = g->looks < MOST_LOOKS ? MOST_TRIED : FEW_TRIED;
    double most = -1;
    for (int32_t k = g->value_count - 1; k >= 0 && tried < tries; k--) {
        int32_t v = g->value[k];
        if (!g->keep[v]) continue;
        g->keep[v] = false;
        int64_t more = remat_backward_cost(g) - cost;
        g->keep[v] = true;
        tried++;
        double gain = (double)r->bytes[v] / (double)(more > 0 ? more : 1);
        if (gain <= most) continue;
        most = gain;
        best = v;
    }
    if (best != NO_VALUE) g->keep[best] = false;
    return best != NO_VALUE;
}

// True if the way that keeps `kept` of `all` values is one of the stage's: all,
// none, and some between.
static bool is_chosen(int32_t kept, int32_t all)
{
    if (all < MOST_WAYS) return true;
    for (int32_t i = 0; i < MOST_WAYS; i++)
        if (kept == all * i / (MOST_WAYS - 1)) return true;
    return false;
}

static int32_t kept_count(const RematRuns *g)
{
    int32_t count = 0;
    for (int32_t k = 0; k < g->value_count; k++)
        count += g->keep[g->value[k]];
    return count;
}

static void find_ways(RematRuns *g, RematStage *stage, ChainStage *chain,
                      int64_t scale)
{
    keep_all(g);
    int32_t all = kept_count(g);
    bool more = true;
    stage->ways = NEW_ARRAY(g->arena, MOST_WAYS + 1, RematWay);
    chain->ways = NEW_ARRAY(g->arena, MOST_WAYS + 1, ChainWay);
    chain->turns = NEW_ARRAY(g->arena, MOST_WAYS + 1, ChainTurn);
    for (int32_t kept = all; more; kept--) {
        if (is_chosen(kept, all)) {
            int32_t i = stage->way_count++;
            stage->ways[i] = way_of(g);
            if (g->output != NO_VALUE)
                chain->ways[i] = chain_way_of(g, &stage->ways[i],
                                              &stage->first, chain, scale);
            chain->turns[i] = chain_turn_of(g, &stage->ways[i], &stage->first,
                                            scale);
        }
        more = drop_one(g);
    }
    chain->turn_count = stage->way_count;
    chain->way_count = g->output != NO_VALUE ? stage->way_count : 0;
}

// ---- stages -----------------------------------------------------------------

static void add_stage(RematRuns *g, RematStage *stage, ChainStage *chain,
                      int64_t scale)
{
    const RematStages *s = g->s;
    stage->first = remat_runs_all(g);
    stage->recomputed = remat_runs_forward(g, true, false);
    if (g->output != NO_VALUE) {
        RematLeft left = {.output = true};
        chain->output = s->counted.bytes[g->output];
        chain->cost = remat_list_cost(s->r, &stage->recomputed) / scale;
        chain->peak = remat_runs_peak(g, &stage->recomputed, left);
        raise_peak(&chain->peak, remat_runs_peak(g, &stage->first, left));
    }
    find_ways(g, stage, chain, scale);
}

RematChain remat_chain_of(Arena *arena, const RematStages *s)
{
    const Remat *r = s->r;
    const double most = 4503599627370496.0;     // half of the limit of chains
    RematRuns g = remat_runs_new(arena, s);
    RematChain c = {.chain = {s->count, NEW_ARRAY(arena, s->count, ChainStage)},
                    .stage = NEW_ARRAY(arena, s->count, RematStage)};
    double costs = 0;
    for (int32_t i = 0; i < r->step_count; i++)
        costs += (double)r->cost[i] * (s->count + 3);
    c.scale = 1 + (int64_t)(costs * MOST_WAYS / most);
    for (int32_t i = s->count - 1; i >= 0; i--) {
        ChainStage *stage = &c.chain.stages[i];
        // A gradient that enters the stage passes the end of the previous one.
        for (int32_t k = 0; k < g.passing_count; k++)
            stage->gradient += r->bytes[g.passing[k]];
        remat_runs_of(&g, i);
        add_stage(&g, &c.stage[i], stage, c.scale);
    }
    c.looks = g.looks;
    return c;
}
