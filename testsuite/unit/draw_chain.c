#include "brute_chain.h"
#include "draw_chain.h"
#include "nets.h"

static int64_t draw_size(Drawing *d)
{
    return (int64_t)next_number(&d->seed, d->sizes);
}

static int64_t draw_cost(Drawing *d)
{
    return (int64_t)next_number(&d->seed, d->costs);
}

// At least so much, and often no more.
static int64_t draw_peak(Drawing *d, int64_t a, int64_t b)
{
    int64_t least = a > b ? a : b;
    return next_number(&d->seed, 2) ? least : least + draw_size(d) / 2;
}

static ChainWay draw_way(Drawing *d, const ChainStage *stage, int64_t input,
                         int64_t after)
{
    ChainWay way = {.forward = draw_cost(d), .backward = draw_cost(d),
                    .kept = draw_size(d),
                    .reads_input = next_number(&d->seed, 3) > 0,
                    .reads_output = next_number(&d->seed, 4) == 0};
    int64_t made = way.kept + stage->output;
    int64_t read = way.kept + stage->gradient +
                   (way.reads_output ? stage->output : 0);
    way.in_forward.held = draw_peak(d, made, 0);
    way.in_forward.last = draw_peak(d, made, input);
    way.in_backward.held = draw_peak(d, read, after);
    way.in_backward.last = draw_peak(d, read + input, after);
    return way;
}

static void draw_stage(Arena *arena, Drawing *d, Chain *c, int i)
{
    ChainStage *stage = &c->stages[i];
    bool is_last = i == c->count - 1;
    int64_t input = i == 0 ? 0 : stage[-1].output;
    int64_t after = i == 0 ? 0 : stage[-1].gradient;
    stage->output = is_last ? 0 : draw_size(d);
    stage->gradient = next_number(&d->seed, 3) ? stage->output : draw_size(d);
    if (d->is_plain && stage->gradient > stage->output)
        stage->gradient = stage->output;
    stage->cost = draw_cost(d);
    stage->peak.held = draw_peak(d, stage->output, 0);
    stage->peak.last = draw_peak(d, stage->output, input);
    stage->way_count = is_last ? 0 : (int32_t)next_number(&d->seed,
                                                          MOST_WAYS + 1);
    stage->ways = NEW_ARRAY(arena, MOST_WAYS, ChainWay);
    for (int j = 0; j < stage->way_count; j++) {
        ChainWay *way = &stage->ways[j];
        *way = draw_way(d, stage, input, after);
        if (!d->is_plain) continue;
        way->forward += stage->cost;
        way->in_forward.held += stage->peak.held;
        way->in_forward.last += stage->peak.last;
    }
    stage->turn_count = 1 + (int32_t)next_number(&d->seed, 2);
    stage->turns = NEW_ARRAY(arena, 2, ChainTurn);
    for (int j = 0; j < stage->turn_count; j++) {
        ChainTurn *turn = &stage->turns[j];
        turn->cost = draw_cost(d);
        turn->peak.held = draw_peak(d, stage->gradient, after);
        turn->peak.last = draw_peak(d, stage->gradient + input, after);
    }
}

Chain *draw_stages(Arena *arena, Drawing *d, int count)
{
    Chain *c = NEW(arena, Chain);
    *c = (Chain){count, NEW_ARRAY(arena, count, ChainStage)};
    for (int i = 0; i < count; i++) draw_stage(arena, d, c, i);
    return c;
}

Chain *draw_chain(Arena *arena, Drawing *d, int most)
{
    return draw_stages(arena, d, 1 + (int)next_number(&d->seed,
                                                      (uint32_t)most));
}

Drawing drawing(uint64_t seed)
{
    Drawing d = {.seed = seed};
    d.sizes = next_number(&d.seed, 2) ? 4 : 40;
    d.costs = next_number(&d.seed, 2) ? 3 : 100;
    return d;
}
