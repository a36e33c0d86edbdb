#include "fit.h"
#include "figures.h"
#include "offload.h"

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
    HostUse host = host_use(g);
    return (Overhead){
        .launches = again->launches,
        .time = part_of(capped_sum(again->time, host.waiting), once.time),
        .flops = part_of(again->cost.flops, once.cost.flops),
        .waiting = part_of(host.waiting, once.time),
        .parked = host.values, .host_bytes = host.bytes };
}

const char *overhead_text(Arena *arena, const Overhead *o)
{
    const char *again =
        arena_print(arena, "%d launch%s again, time +%.2f %%, FLOPs +%.2f %%",
                    (int)o->launches, o->launches == 1 ? "" : "es",
                    100 * o->time, 100 * o->flops);
    if (o->parked == 0) return again;
    return arena_print(arena, "%s; %d map%s in %s of host memory, waiting "
                       "+%.2f %%", again, (int)o->parked,
                       o->parked == 1 ? "" : "s",
                       bytes_text(arena, o->host_bytes), 100 * o->waiting);
}

const char *fit_text(const Graph *g)
{
    Overhead again = graph_overhead(g);
    if (again.parked > 0) return overhead_text(g->arena, &again);
    return arena_print(g->arena, "%s, bound +%.2f %%",
                       overhead_text(g->arena, &again), 100 * g->fit->bound);
}
