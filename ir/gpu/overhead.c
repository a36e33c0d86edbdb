// The cost of memory savings in the model.
#include "overhead.h"
#include <inttypes.h>
#include "../base/format.h"
#include "offload.h"

static double part_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static void add_cost(PhaseCost *sum, const PhaseCost *cost, int64_t times)
{
    sum->launches += cost->launches;
    sum->time = capped_sum(sum->time, capped_product(cost->time, times));
    sum->cost.flops = capped_sum(sum->cost.flops,
                                 capped_product(cost->cost.flops, times));
    sum->cost.bytes = capped_sum(sum->cost.bytes,
                                 capped_product(cost->cost.bytes, times));
    sum->cost.products = capped_sum(sum->cost.products,
                                    capped_product(cost->cost.products, times));
}

// Returns the number of batches in a training step.
static int64_t batches_of(const Graph *g)
{
    if (g->mode != TRAIN || g->training.step_batch <= g->batch) return 1;
    return (g->training.step_batch + g->batch - 1) / g->batch;
}

// Sums the costs, those of recomputed launches separately.  Grouped launches
// count singly, since grouping depends on more than the budget.
static void sum_costs(const Graph *g, int64_t batches, PhaseCost *once,
                      PhaseCost *recomputed)
{
    PhaseCost sums[PHASE_COUNT];
    *once = *recomputed = (PhaseCost){ .launches = 0 };
    step_cost(g, graph_gpu(g), true, sums);
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        add_cost(phase == RECOMPUTE ? recomputed : once, &sums[phase],
                 phase == UPDATE ? 1 : batches);
}

Overhead graph_overhead(const Graph *g)
{
    PhaseCost once, recomputed;
    HostUse host = host_use(g);
    // The cost of slices inside the net was computed for one batch.
    int64_t batches = g->decisions.whole_time > 0 ? 1 : batches_of(g);
    sum_costs(g, batches, &once, &recomputed);
    int64_t waiting = capped_product(host.waiting, batches);
    int64_t time = capped_sum(recomputed.time, waiting);
    int64_t flops = recomputed.cost.flops;
    int64_t whole_time = once.time, whole_flops = once.cost.flops;
    if (g->decisions.whole_time > 0) {
        time += once.time - g->decisions.whole_time;
        flops += once.cost.flops - g->decisions.whole_flops;
        whole_time = g->decisions.whole_time;
        whole_flops = g->decisions.whole_flops;
    }
    return (Overhead){
        .launches = recomputed.launches, .time = part_of(time, whole_time),
        .flops = part_of(flops, whole_flops),
        .waiting = part_of(waiting, whole_time),
        .offloaded = host.values, .host_bytes = host.bytes };
}

int32_t recomputed_launches(const Graph *g)
{
    int32_t count = 0;
    for (NodeId i = 0; i < g->node_count; i++)
        count += g->nodes[i].phase == RECOMPUTE && is_launch(&g->nodes[i]);
    return count;
}

PhaseCost graph_cost(const Graph *g)
{
    PhaseCost once, recomputed;
    HostUse host = host_use(g);
    sum_costs(g, batches_of(g), &once, &recomputed);
    add_cost(&once, &recomputed, 1);
    once.time = capped_sum(once.time,
                           capped_product(host.waiting, batches_of(g)));
    return once;
}

const char *overhead_text(Arena *arena, const Overhead *o)
{
    const char *recomputed =
        arena_print(arena, "%d launch%s recomputed, time +%.2f %%, "
                    "FLOPs +%.2f %%", (int)o->launches,
                    o->launches == 1 ? "" : "es", 100 * o->time,
                    100 * o->flops);
    if (o->offloaded == 0) return recomputed;
    return arena_print(arena, "%s; %d map%s in %s of host memory, waiting "
                       "+%.2f %%", recomputed, (int)o->offloaded,
                       o->offloaded == 1 ? "" : "s",
                       bytes_text(arena, o->host_bytes), 100 * o->waiting);
}

const char *slices_text(const Graph *g)
{
    return arena_print(g->arena, "%" PRId64 " sample%s at a time over maps of %"
                       PRId64 " pixels and more", g->decisions.split_samples,
                       g->decisions.split_samples == 1 ? "" : "s",
                           g->decisions.split_pixels);
}

const char *fit_text(const Graph *g)
{
    Overhead recomputed = graph_overhead(g);
    if (recomputed.offloaded > 0) return overhead_text(g->arena, &recomputed);
    return arena_print(g->arena, "%s, bound +%.2f %%",
                       overhead_text(g->arena, &recomputed),
                       100 * g->decisions.fit->bound);
}
