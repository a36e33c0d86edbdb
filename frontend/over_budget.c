// Memory that is not enough: what takes it, and what would fit.
//
//     cnnc: note: the most is alive at step 12, conv_2.dgrad (line 7): 9.18 MiB
//       4.50 MiB  in the state: parameters, statistics, optimizer
//       3.00 MiB  in relu_1 f32[64, 32, 32, 12] (line 6)
//       1.68 MiB  in 17 more
//     cnnc: note: the smallest arenas at batch 64:
//      12.37 MiB  nothing computed again
//       9.18 MiB  checkpoint: 3 launches again, time +4.20 %, FLOPs +3.90 %
//     cnnc: note: the largest batches that fit in 8.00 MiB:
//             12  nothing computed again
//             31  checkpoint
#include <inttypes.h>
#include "../ir/figures.h"
#include "../passes/budget.h"
#include "batches.h"
#include "pipeline.h"

enum { SHOWN = 8 };             // buffers of a peak; the rest is summed up

// Whether a budget may make a training step compute something again.
static bool recomputes(const PassOptions *o, Mode mode)
{
    PassOptions within = *o;
    within.budget = 1;
    return mode == TRAIN && searches(&within);
}

// ---- the peak ---------------------------------------------------------------

static void line_of_bytes(const Graph *g, int64_t bytes, const char *what)
{
    fprintf(g->diag->stream, "  %11s  %s\n", bytes_text(g->arena, bytes), what);
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
    if (g->fit == NULL) return;
    Overhead again = graph_overhead(g);
    note(g->diag, (Pos){ .file = NONE }, "the smallest arenas at batch %" PRId64
         ":", g->batch);
    line_of_bytes(g, g->fit->plain, "nothing computed again");
    if (g->program != NULL)
        line_of_bytes(g, g->arena_bytes, arena_print(
            arena, "checkpoint: %s", overhead_text(arena, &again)));
    else line_of_bytes(g, g->arena_bytes, "checkpoint: nothing is gained");
}

// ---- batches ----------------------------------------------------------------

static void print_batch(const Input *in, const Capacity *c, const char *lever)
{
    FILE *stream = in->diag->stream;
    if (c->batch == 0) {
        fprintf(stream, "  %11s  %s: one sample does not fit\n", "none", lever);
        return;
    }
    bool is_exact = c->above == c->batch + 1 || c->is_limit;
    fprintf(stream, "  %11" PRId64 "  %s: %s%s\n", c->batch, lever,
            bytes_text(in->arena, c->arena_bytes),
            is_exact ? "" : "; larger ones were not tried");
}

// The largest batches for so many bytes, with nothing computed again and, where
// that may be, with the most.  False after an error; the second is the first
// where nothing may be.
static bool find_batches(const Input *in, const Options *o, int64_t bytes,
                         Capacity *plain, Capacity *most)
{
    BatchSearch *s = NEW(in->arena, BatchSearch);
    if (!begin_smallest(s, in, o, false, 1)) return false;
    *plain = *most = largest_batch(s, bytes);
    if (!recomputes(&o->passes, o->frontend.mode)) return true;
    if (!begin_smallest(s, in, o, true, plain->batch > 0 ? plain->batch : 1))
        return false;
    *most = largest_batch(s, bytes);
    return true;
}

void explain_batches(const Input *in, const Options *o)
{
    Capacity plain, most;
    if (in->ast == NULL || in->diag->error_count != 1) return;
    if (!find_batches(in, o, o->passes.budget, &plain, &most)) return;
    note(in->diag, (Pos){ .file = NONE }, "the largest batches that fit in %s:",
         bytes_text(in->arena, o->passes.budget));
    print_batch(in, &plain, "nothing computed again");
    if (recomputes(&o->passes, o->frontend.mode))
        print_batch(in, &most, "checkpoint");
}

// ---- --fit ------------------------------------------------------------------

// Mistakes of the program are shown here, once; of a graph as text the batch is
// what it is.
static bool is_right(const Input *in, const Options *o)
{
    FrontendOptions frontend = o->frontend;
    PassOptions quiet = without_dumps(&o->passes);
    PlanSize size;
    if (in->ast == NULL && in->diag->error_count == 0)
        error(in->diag, (Pos){ .file = NONE }, "--fit is of a program, and "
              "'%s' is a graph, whose batch is what it is", in->path);
    frontend.batch = 1;
    return measure_plan(in, &frontend, &quiet, &size);
}

int choose_batch(const Input *in, Options *o)
{
    Capacity plain, most;
    if (!is_right(in, o) || !find_batches(in, o, o->fit, &plain, &most))
        return EXIT_INPUT;
    // Where not even one sample fits, compiling it says why.
    o->frontend.batch = most.batch > 0 ? most.batch : 1;
    if (most.batch > plain.batch || most.batch == 0)
        o->passes.budget = o->fit;
    if (most.batch == 0) return -1;
    note(in->diag, (Pos){ .file = NONE }, "batch %" PRId64 " is the largest "
         "that fits in %s%s", most.batch, bytes_text(in->arena, o->fit),
         !recomputes(&o->passes, o->frontend.mode) ? ""
         : most.batch == plain.batch ? ", with nothing computed again"
         : arena_print(in->arena, "; %" PRId64 " with nothing computed again",
                       plain.batch));
    return -1;
}
