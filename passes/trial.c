// Searches compare arenas: each decision is applied to a copy of the graph,
// which runs through as many later passes as the comparison needs.
#include "trial.h"
#include "../ir/base/search_cache.h"
#include "../ir/base/sizes.h"
#include "../ir/gpu/gpu_model.h"
#include "offload/host_copies.h"
#include "placement/arena_estimate.h"
#include "remat/remat_schedule.h"

// ---- whole compilations -----------------------------------------------------

// Sets the time and FLOPs of all launches of g.
static void add_costs(const Graph *g, Outcome *outcome)
{
    PhaseCost sums[PHASE_COUNT];
    step_cost(g, graph_gpu(g), true, sums);
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        outcome->time = capped_sum(outcome->time, sums[phase].time);
        outcome->flops = capped_sum(outcome->flops, sums[phase].cost.flops);
    }
}

Outcome compile_trial(Graph *g, const PassOptions *o, Compile *compile)
{
    PassOptions quiet = *o;
    quiet.dump = quiet.dump_dir = NULL;
    quiet.time = false;
    quiet.measured = true;
    bool is_whole = compile(g, &quiet);
    Outcome outcome = { is_whole ? g->arena_bytes : INT64_MAX, 0, 0 };
    add_costs(g, &outcome);
    return outcome;
}

bool is_better_outcome(const Outcome *a, const Outcome *b, int64_t budget)
{
    bool fits = a->arena_bytes <= budget;
    if (fits != (b->arena_bytes <= budget)) return fits;
    if (fits || a->arena_bytes == b->arena_bytes) return a->time < b->time;
    return a->arena_bytes < b->arena_bytes;
}

// ---- parts of the pipeline --------------------------------------------------

Graph *nameless_copy(const Graph *g, Arena *arena)
{
    Graph *copy = graph_copy(g, arena);
    copy->nameless = true;
    return copy;
}

// Runs the passes from a place of the order up to assign_offsets, without
// checkpoint.
static void run_to_offsets(Graph *g, const PassOptions *o, int place,
                           bool together)
{
    int end = pass_place(o, PASS_assign_offsets);
    for (; place < end; place++) {
        int i = pass_at(o, place);
        bool runs = i != PASS_checkpoint &&
                    (i != PASS_fuse_horizontal || together);
        run_pass(g, o, i, runs && o->enabled[i]);
    }
}

Graph *shared_after(const Graph *ordered, const PassOptions *o, bool together,
                    Arena *arena)
{
    Graph *copy = nameless_copy(ordered, arena);
    known_spend(o->known, copy->node_count, WORK_TRIAL_NODE);
    run_to_offsets(copy, o, pass_place(o, PASS_checkpoint) + 1, together);
    return copy;
}

int64_t least_from(Graph *g, const PassOptions *o, int first)
{
    run_to_offsets(g, o, pass_place(o, first), false);
    return plan_least(g);
}

int64_t time_of_launches(const Graph *g)
{
    Outcome outcome = { 0, 0, 0 };
    add_costs(g, &outcome);
    return outcome.time;
}

int64_t time_from(Graph *g, const PassOptions *o, int first)
{
    int end = pass_place(o, PASS_schedule);
    for (int place = pass_place(o, first); place < end; place++) {
        int i = pass_at(o, place);
        run_pass(g, o, i, o->enabled[i]);
    }
    return time_of_launches(g);
}

void copy_to_host(Graph *g, const PassOptions *o)
{
    HostCopy *copy;
    Arena *arena = arena_new();
    HostModel m = host_model(shared_after(g, o, false, arena));
    host_offload(&m, g->decisions.offloading);
    int32_t count = host_steps(&m, &copy);
    put_copies(g, copy, count);
    arena_free(arena);
}

int64_t arena_of_shared(Graph *shared, const PassOptions *o, int64_t limit)
{
    int64_t bytes = plan_least(shared);
    if (bytes > limit) return bytes;
    if (o->near && o->enabled[PASS_assign_offsets])
        return plan_near(shared, o, limit);
    run_pass(shared, o, PASS_assign_offsets, o->enabled[PASS_assign_offsets]);
    return shared->arena_bytes;
}

Graph *ordered_with(const Graph *g, const PassOptions *o,
                    const RematSchedule *schedule, Arena *arena)
{
    Graph *copy = nameless_copy(g, arena);
    copy->decisions.remat_schedule = schedule;
    run_pass(copy, o, PASS_checkpoint, o->enabled[PASS_checkpoint]);
    return copy;
}

int64_t arena_of_ordered(const Graph *g, const PassOptions *o, int64_t limit)
{
    Arena *arena = arena_new();
    int64_t bytes =
        arena_of_shared(shared_after(g, o, false, arena), o, limit);
    arena_free(arena);
    return bytes;
}

int64_t arena_after(const Graph *g, const PassOptions *o,
                    const RematSchedule *schedule, int64_t limit)
{
    Arena *arena = arena_new();
    int64_t bytes =
        arena_of_ordered(ordered_with(g, o, schedule, arena), o, limit);
    arena_free(arena);
    return bytes;
}

Graph *offloaded_with(const Graph *ordered, const PassOptions *o,
                      const Offloading *offloading, Arena *arena)
{
    Graph *copy = nameless_copy(ordered, arena);
    copy->decisions.offloading = offloading;
    copy_to_host(copy, o);
    return copy;
}
