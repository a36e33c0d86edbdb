// The notes of a budget that is exceeded: the largest live values, and the
// settings that would fit.
//
//     cnnc: note: the most is alive at step 12, conv_2.dgrad (line 7): 9.18 MiB
//       4.50 MiB  in the state: parameters, statistics, optimizer
//       3.00 MiB  in relu_1 f32[64, 32, 32, 12] (line 6)
//       1.68 MiB  in 17 more
//     cnnc: note: the smallest arenas at batch 64:
//      12.37 MiB  nothing recomputed
//       9.18 MiB  checkpoint: 3 launches recomputed, time +4.20 %,
//                 FLOPs +3.90 %
//       7.02 MiB  slices inside the net: 9 launches recomputed, time +6.10 %,
//                 FLOPs +4.40 %
//       4.81 MiB  micro-batch: 1 sample at a time, time +61.00 %, FLOPs +0.40 %
//       4.72 MiB  maps in half precision: 3 launches recomputed, time -38.00 %,
//                 FLOPs +3.90 %
//     cnnc: note: the largest batches that fit in 8.00 MiB:
//             12  nothing recomputed: 7.90 MiB
//             31  checkpoint: 7.95 MiB
//            any  micro-batch: 11 samples at a time, 7.81 MiB
#include <inttypes.h>
#include "../../ir/base/format.h"
#include "../../ir/base/sizes.h"
#include "../../ir/base/search_cache.h"
#include "../../ir/dtype.h"
#include "batch_search.h"
#include "run_pipeline.h"

enum { SHOWN = 8 };             // buffers listed; the rest is summed

// Limits of the search work (ir/base/search_cache.h): of a whole refusal, of
// one lever's largest batch once that is spent, and of both together.
#define REFUSAL_WORK INT64_C(3000000000)
#define LEAST_WORK   INT64_C(100000000)
#define MOST_WORK    INT64_C(6500000000)

// ---- levers: ways to use less memory ----------------------------------------

// A way to use less memory.
typedef struct Lever {
    const char *name;
    // Changes o so that a training step uses the lever as far as possible.
    // False if the command line or the input excludes it.
    bool      (*use)(Options *o);
    bool        in_slices;      // any batch fits if one slice does
    bool        splits;         // the batch inside the net: other batches are
                                // not searched, for each takes seconds
    bool        rounds;         // maps; a graph that was read has fixed types
} Lever;

static bool use_nothing(Options *o)
{
    o->passes.checkpoint.kind = CHECKPOINT_OFF;
    o->passes.prefer = PREFER_MEMORY;
    o->passes.budget = 0;
    o->passes.smallest = false;
    o->passes.offload = false;
    return true;
}

static bool compute_again(Options *o, CheckpointKind kind)
{
    if (o->frontend.mode != TRAIN || !o->passes.enabled[PASS_checkpoint] ||
        o->passes.checkpoint.kind == CHECKPOINT_OFF)
        return false;
    o->passes.checkpoint.kind = kind;
    o->passes.budget = 0;
    o->passes.smallest = true;
    o->passes.offload = false;
    return true;
}

static bool use_elementwise(Options *o)
{
    return compute_again(o, CHECKPOINT_ELEMENTWISE);
}

static bool use_checkpoint(Options *o)
{
    return compute_again(o, CHECKPOINT_AUTO);
}

static bool use_slices(Options *o)
{
    o->frontend.microbatch = 1;
    return o->frontend.mode == TRAIN && use_nothing(o);
}

static bool use_both(Options *o)
{
    o->frontend.microbatch = 1;
    return use_checkpoint(o);
}

static bool use_host(Options *o)
{
    if (!o->passes.offload || !use_checkpoint(o)) return false;
    o->passes.offload = true;
    return true;
}

static bool use_split(Options *o)
{
    if (!o->passes.enabled[PASS_batch_split]) return false;
    if (o->frontend.mode == TRAIN) return use_checkpoint(o);
    o->passes.budget = 0;
    o->passes.smallest = true;
    return true;
}

// Half precision, on top of recomputation; it changes results.
static bool use_half(Options *o)
{
    if (o->frontend.real != F32 || is_half(o->frontend.map)) return false;
    o->frontend.map = F16;
    return use_checkpoint(o) || use_nothing(o);
}

// The other levers are compared with the first.
static const Lever levers[] = {
    { "nothing recomputed", use_nothing, .in_slices = false },
    { "elementwise", use_elementwise, .in_slices = false },
    { "checkpoint", use_checkpoint, .in_slices = false },
    { "slices inside the net", use_split, .splits = true },
    { "maps in host memory", use_host, .in_slices = false },
    { "micro-batch", use_slices, .in_slices = true },
    { "micro-batch and checkpoint", use_both, .in_slices = true },
    { "maps in half precision", use_half, .rounds = true },
};
enum { LEVERS = sizeof levers / sizeof *levers };

// A lever in use on a net.
typedef struct Use {
    const Lever *lever;
    Options      o;
    BatchSearch  search;
    bool         is_used;
    bool         refused;       // the program excludes it
    PlanSize     size;          // at the requested batch
    int64_t      work;          // of the search for it
} Use;

// ---- the peak ---------------------------------------------------------------

static void line_of_bytes(const Graph *g, int64_t bytes, const char *what)
{
    detail(g->diag, "%11s  %s", bytes_text(g->arena, bytes), what);
}

static const char *line_text(Arena *arena, int32_t line)
{
    return line > 0 ? arena_print(arena, " (line %" PRId32 ")", line) : "";
}

static void print_alive(Graph *g, const Plan *plan, int step)
{
    PlanLive *alive;
    Arena *arena = g->arena;
    int count = plan_alive_at(arena, plan, step, &alive);
    int64_t state = 0, rest = 0;
    int shown = 0, more = 0;
    for (int i = 0; i < count; i++)
        if (plan->buffers[alive[i].holder].persistent) state += alive[i].bytes;
    line_of_bytes(g, state, g->mode == TRAIN
                  ? "in the state: parameters, statistics, optimizer"
                  : "in the state: parameters, statistics");
    for (int i = 0; i < count; i++) {
        const PlanBuffer *b = &plan->buffers[alive[i].holder];
        if (b->persistent) continue;
        if (shown == SHOWN) {
            rest += alive[i].bytes;
            more++;
            continue;
        }
        line_of_bytes(g, alive[i].bytes, arena_print(
            arena, "in %s %s%s%s", b->name, dtype_names[b->dtype],
            shape_text(g, b->shape), line_text(arena, b->line)));
        shown++;
    }
    if (more > 0)
        line_of_bytes(g, rest, arena_print(arena, "in %d more", more));
}

void explain_peak(Graph *g)
{
    const Plan *plan = plan_of(g);
    Arena *arena = g->arena;
    if (!shows_errors(g->diag) || plan->step_count == 0) return;
    const int64_t *live = plan_live(arena, plan);
    int step = plan_fullest(plan, live);
    note(g->diag, (Pos){ .file = NONE }, "the most is alive at step %d, %s%s: "
         "%s", step, plan->steps[step].name,
         line_text(arena, plan->steps[step].line),
         bytes_text(arena, live[step]));
    print_alive(g, plan, step);
}

// ---- batches ----------------------------------------------------------------

static void print_batch(const Input *in, const Capacity *c, const char *lever)
{
    if (c->batch == 0 && c->above > 1) {
        detail(in->diag, "%11s  %s: %" PRId64 " samples do not fit; fewer "
               "were not tried", "?", lever, c->above);
        return;
    }
    if (c->batch == 0) {
        detail(in->diag, "%11s  %s: one sample does not fit", "none", lever);
        return;
    }
    bool is_exact = c->above == c->batch + 1 || c->is_limit;
    detail(in->diag, "%11" PRId64 "  %s: %s%s", c->batch, lever,
           enough_text(in->arena, c->arena_bytes),
           is_exact ? "" : "; larger ones were not tried");
}

static void print_slices(const Input *in, const Capacity *c, const Use *use)
{
    const char *name = use->lever->name;
    if (c->batch == 0) {
        print_batch(in, c, name);
        return;
    }
    detail(in->diag, "%11s  %s: %" PRId64 " sample%s at a time, %s", "any",
           name, c->batch, c->batch == 1 ? "" : "s",
           bytes_text(in->arena, c->arena_bytes));
}

// Prints the largest batches.  The search starts from the requested batch,
// whose arena is known.  parts: the fraction 1 / parts of the remaining work is
// used.
static void print_batches(const Input *in, const Options *o, Use *use,
                          int parts)
{
    BatchSearch *s = &use->search;
    int64_t bytes = o->passes.budget;
    s->in_slices = use->lever->in_slices;
    int64_t spent = known_spent(s->passes.known);
    s->most_work = spent + larger((REFUSAL_WORK - spent) / parts, LEAST_WORK);
    s->last_work = use->work;
    s->end_work = MOST_WORK;
    s->state_bytes = use->size.state_bytes;
    add_batch(s, (BatchPoint){ 0, use->size.state_bytes });
    add_batch(s, (BatchPoint){ s->in_slices ? 1 : use->size.batch,
                               use->size.arena_bytes });
    Capacity c = largest_batch(s, bytes);
    if (s->in_slices) print_slices(in, &c, use);
    else print_batch(in, &c, use->lever->name);
}

// ---- the smallest arenas ----------------------------------------------------

static double more_than(int64_t some, int64_t plain)
{
    return plain > 0 ? 100 * ((double)some / (double)plain - 1) : 0;
}

// Describes the cost of a lever, compared with a step without any.
static const char *cost_text(Arena *arena, const Use *use, const Use *plain)
{
    const PhaseCost *cost = &use->size.cost, *than = &plain->size.cost;
    const char *slices = "", *recomputed = "";
    if (use->lever->in_slices) slices = "1 sample at a time, ";
    if (use->size.recomputed > 0)
        recomputed = arena_print(arena, "%d launch%s recomputed, ",
                                 (int)use->size.recomputed,
                                 use->size.recomputed == 1 ? "" : "es");
    return arena_print(arena, "%s%stime %+.2f %%, FLOPs %+.2f %%", slices,
                       recomputed, more_than(cost->time, than->time),
                       more_than(cost->cost.flops, than->cost.flops));
}

// True if slices inside the net save nothing beyond recomputation of the whole
// batch.
static bool adds_nothing(const Use *use)
{
    const Use *before = use - 1;
    return use->lever->splits && before->is_used &&
           use->size.arena_bytes >= before->size.arena_bytes;
}

static void print_smallest(const Input *in, const Use *use, const Use *plain)
{
    Arena *arena = in->arena;
    const char *name = use->lever->name, *what;
    if (use->refused) {
        detail(in->diag, "%11s  %s: this net has no step in slices", "none",
               name);
        return;
    }
    if (use == plain)
        what = name;
    else if (use->size.arena_bytes >= plain->size.arena_bytes)
        what = arena_print(arena, "%s: nothing is gained", name);
    else if (adds_nothing(use))
        what = arena_print(arena, "%s: nothing more is gained", name);
    else
        what = arena_print(arena, "%s: %s", name, cost_text(arena, use, plain));
    detail(in->diag, "%11s  %s", enough_text(arena, use->size.arena_bytes),
           what);
}

static void print_plain(const Input *in, const Use *plain)
{
    note(in->diag, (Pos){ .file = NONE }, "the smallest arenas at batch %"
         PRId64 ":", plain->size.batch);
    print_smallest(in, plain, plain);
}

// ---- all levers -------------------------------------------------------------

// True if the refused plan is the one that this lever makes.
static bool was_refused(const Options *o, const Use *use)
{
    return o->passes.refused->arena_bytes > 0 &&
           use->lever->splits == o->passes.enabled[PASS_batch_split] &&
           use->o.passes.offload == o->passes.offload &&
           (!o->auto_slices || use->lever->in_slices) &&
           o->passes.refused->mode == TRAIN && searches(&o->passes) &&
           o->passes.checkpoint.kind == use->o.passes.checkpoint.kind &&
           o->frontend.map == use->o.frontend.map &&
           has_limit(&use->o.passes) &&
           o->frontend.microbatch == use->o.frontend.microbatch;
}

// Takes the refused size, or that of the evaluation program if it is larger.
static void take_refused(Use *use, const PlanSize *refused)
{
    int64_t beside = use->size.arena_bytes;
    use->size = *refused;
    if (beside > use->size.arena_bytes) use->size.arena_bytes = beside;
}

// Measures a lever; false if it can't be used.
static bool measure_use(const Input *in, const Options *o, const Lever *lever,
                        Use *use)
{
    use->lever = lever;
    use->o = *o;
    use->is_used = lever->use(&use->o) &&
                   (in->ast != NULL || !(lever->in_slices || lever->rounds)) &&
                   !(lever->in_slices && o->frontend.caller_inputs);
    if (!use->is_used) return false;
    if (lever->in_slices && !o->frontend.ghost &&
        net_needs_whole_batch(in->ast, &use->o.frontend)) {
        use->refused = true;
        return false;
    }
    begin_batches(&use->search, in, &use->o);
    use->search.passes.enabled[PASS_batch_split] = lever->splits;
    FrontendOptions frontend = use->o.frontend;
    bool is_known = was_refused(o, use);
    int64_t spent = known_spent(o->passes.known);
    if (is_known) frontend.mode = EVAL;
    if (is_known && in->ast == NULL)
        use->size = *o->passes.refused;
    else if (o->auto_slices && !lever->in_slices)
        use->refused = !measure_whole(&use->search, &frontend, &use->size);
    else
        use->refused = !measure_file(&use->search, &frontend, &use->size);
    use->o.frontend.microbatch = frontend.microbatch;
    use->o.frontend.ghost = frontend.ghost;
    if (is_known) take_refused(use, o->passes.refused);
    use->work = known_spent(o->passes.known) - spent;
    return !use->refused;
}

// Prints each line when it is known, since one may take many seconds.
void explain_levers(const Input *in, const Options *o)
{
    Use *uses = NEW_ARRAY(in->arena, LEVERS, Use), *plain = &uses[0];
    const Pos nowhere = { .file = NONE };
    Diag *diag = in->diag;
    if (diag->error_count != 1) return;
    if (!measure_use(in, o, &levers[0], plain)) return;
    bool any = false;
    for (int i = 1; i < LEVERS; i++) {
        measure_use(in, o, &levers[i], &uses[i]);
        if (!uses[i].is_used) continue;
        if (!any) print_plain(in, plain);
        any = true;
        print_smallest(in, &uses[i], plain);
    }
    if (o->fit > 0 || in->ast == NULL) return;
    note(diag, nowhere, "the largest batches that fit in %s:",
         bytes_text(in->arena, o->passes.budget));
    for (int i = 0; i < LEVERS; i++)
        if (uses[i].is_used && !uses[i].refused && !levers[i].splits)
            print_batches(in, o, &uses[i], LEVERS - i);
}
