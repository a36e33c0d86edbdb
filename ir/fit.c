#include "fit.h"
#include <inttypes.h>

static double part_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

Overhead graph_overhead(const Graph *g)
{
    PhaseCost sums[PHASE_COUNT], once = { .launches = 0 };
    const PhaseCost *again = &sums[RECOMPUTE];
    step_cost(g, graph_gpu(g), sums);
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        if (phase == RECOMPUTE) continue;
        once.time = capped_sum(once.time, sums[phase].time);
        cost_add(&once.cost, &sums[phase].cost);
    }
    Overhead o = { again->launches, part_of(again->time, once.time),
                   part_of(again->cost.flops, once.cost.flops) };
    if (g->whole_time > 0) {
        o.time = part_of(once.time + again->time - g->whole_time,
                         g->whole_time);
        o.flops = part_of(once.cost.flops + again->cost.flops - g->whole_flops,
                          g->whole_flops);
    }
    return o;
}

const char *overhead_text(Arena *arena, const Overhead *o)
{
    return arena_print(arena, "%d launch%s again, time +%.2f %%, FLOPs +%.2f "
                       "%%", (int)o->launches, o->launches == 1 ? "" : "es",
                       100 * o->time, 100 * o->flops);
}

const char *slices_text(const Graph *g)
{
    return arena_print(g->arena, "%" PRId64 " sample%s at a time over maps of %"
                       PRId64 " pixels and more", g->split_samples,
                       g->split_samples == 1 ? "" : "s", g->split_pixels);
}

const char *fit_text(const Graph *g)
{
    Overhead again = graph_overhead(g);
    return arena_print(g->arena, "%s, bound +%.2f %%",
                       overhead_text(g->arena, &again), 100 * g->fit->bound);
}
