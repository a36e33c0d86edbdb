// Runs the pipeline.  The planner is not trusted: an independent checker
// verifies every plan from its steps.
#include <string.h>
#include "../../ir/gpu/offload.h"
#include "run_pipeline.h"

PlanSize plan_size(const Graph *g)
{
    return (PlanSize){ g->mode, g->arena_bytes, g->state_bytes,
                       g->max_live_bytes,
                       is_accumulating(g) ? g->training.step_batch : g->batch,
                       graph_cost(g), recomputed_launches(g),
                       g->decisions.split_samples, g->decisions.split_pixels,
                       g->decisions.split_samples > 0 &&
                           g->decisions.split_pixels > 0,
                       host_use(g).values > 0 };
}

Plan *run_pipeline(Graph *g, const PassOptions *o)
{
    if (o->stop_after != NULL && strcmp(o->stop_after, "frontend") == 0) {
        verify(g, "the front end");
        return NULL;
    }
    if (!run_passes(g, o)) {
        if (g->facts & IS_PLACED && g->diag->over_budget) {
            explain_peak(g);
            if (o->refused != NULL) *o->refused = plan_size(g);
        }
        return NULL;
    }
    Plan *plan = plan_of(g);
    plan->budget = o->budget;
    Arena *arena = arena_new();
    const char *fault = verify_program(arena, g, plan);
    if (fault != NULL) bug("the plan is wrong: %s", fault);
    arena_free(arena);
    return check_literals(g) ? plan : NULL;
}

PassOptions without_dumps(const PassOptions *o)
{
    PassOptions quiet = *o;
    quiet.dump = quiet.dump_dir = NULL;
    quiet.time = false;
    quiet.refused = NULL;
    quiet.beside = 0;
    return quiet;
}

// Measures a plan; all allocations are in a temporary arena.
bool measure_plan(const Input *in, const FrontendOptions *frontend,
                  const PassOptions *o, PlanSize *size)
{
    Arena *arena = arena_new();
    Input alone = input_apart(in, arena);
    Graph *g = input_graph(&alone, frontend);
    // The sizes of the smallest arena need no plan.
    bool done = g != NULL &&
                (o->smallest ? run_passes(g, o) : run_pipeline(g, o) != NULL);
    bool known = done || (g != NULL && in->diag->over_budget);
    if (known) *size = plan_size(g);
    arena_free(arena);
    return known;
}
