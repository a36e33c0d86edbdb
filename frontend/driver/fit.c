// --fit: finds the largest batch whose arena fits, which is then compiled.
// With --microbatch auto, the program's batch replaces it if it is larger and
// fits in slices.
#include <inttypes.h>
#include "../../ir/base/format.h"
#include "batch_search.h"
#include "run_pipeline.h"

// The limit of the search work (ir/base/search_cache.h) for the largest batch.
#define FIT_WORK INT64_C(7500000000)

// True if the budget chooses the values that a training step recomputes.
static bool recomputes(const Options *o)
{
    PassOptions within = o->passes;
    within.smallest = true;
    return o->frontend.mode == TRAIN && searches(&within);
}

// Finds the largest batches for `bytes`: `plain` with no recomputation beyond
// the command line's, and `most` with recomputation, if it is allowed.  Equal
// if it is not.  False after an error.
static bool find_batches(const Input *in, const Options *o, int64_t bytes,
                         Capacity *plain, Capacity *most)
{
    BatchSearch *s = NEW(in->arena, BatchSearch);
    begin_batches(s, in, o);
    s->passes.prefer = PREFER_MEMORY;
    s->passes.budget = 0;
    s->end_work = FIT_WORK;
    if (recomputes(o)) s->passes.checkpoint.kind = CHECKPOINT_OFF;
    if (!try_first(s, 1)) return false;
    *plain = *most = largest_batch(s, bytes);
    if (!recomputes(o)) return true;
    begin_batches(s, in, o);
    s->end_work = FIT_WORK;
    s->passes.smallest = true;
    if (!try_first(s, plain->batch > 0 ? plain->batch : 1)) return false;
    *most = largest_batch(s, bytes);
    return true;
}

// Reports errors of the program once.  The text of a graph has a fixed batch,
// which is an error here.
static bool is_right(const Input *in, const Options *o)
{
    FrontendOptions frontend = o->frontend;
    PassOptions quiet = without_dumps(&o->passes);
    PlanSize size;
    if (in->ast == NULL && in->diag->error_count == 0)
        error(in->diag, (Pos){ .file = NONE }, "--fit needs a program, and "
              "'%s' is a graph, whose batch is fixed", in->path);
    frontend.batch = 1;
    return measure_plan(in, &frontend, &quiet, &size);
}

// Any batch fits in slices if one sample does.  True if the program's batch is
// larger than the largest that fits at once.
static bool needs_slices(const Input *in, Options *o, int64_t most)
{
    BatchSearch *s = NEW(in->arena, BatchSearch);
    FrontendOptions frontend = o->frontend;
    PlanSize size;
    if (!o->auto_slices) return false;
    frontend.microbatch = 1;
    begin_batches(s, in, o);
    s->passes.budget = o->fit;
    o->auto_slices = measure_file(s, &frontend, &size) && size.batch > most &&
                     size.arena_bytes <= o->fit;
    if (!o->auto_slices) return false;
    o->frontend.batch = size.batch;
    o->passes.budget = o->fit;
    return true;
}

// Returns the options without --ghost if only slices would need it.
static Options at_once(const Input *in, const Options *o)
{
    BatchSearch *s = NEW(in->arena, BatchSearch);
    Options whole = *o;
    PlanSize size;
    if (!o->auto_slices) return whole;
    begin_batches(s, in, o);
    s->passes.budget = 0;
    measure_whole(s, &whole.frontend, &size);
    return whole;
}

int choose_batch(const Input *in, Options *o)
{
    Capacity plain, most;
    const Options whole = at_once(in, o);
    if (!is_right(in, &whole) ||
        !find_batches(in, &whole, o->fit, &plain, &most))
        return EXIT_INPUT;
    if (needs_slices(in, o, most.batch)) return -1;
    o->frontend = whole.frontend;
    // If not one sample fits, compiling it reports the reason.
    o->frontend.batch = most.batch > 0 ? most.batch : 1;
    if (most.batch > plain.batch || most.batch == 0)
        o->passes.budget = o->fit;
    if (most.batch == 0) return -1;
    bool is_exact = most.above == most.batch + 1 || most.is_limit;
    note(in->diag, (Pos){ .file = NONE }, "batch %" PRId64 " is the largest "
         "%sthat %s in %s%s", most.batch, is_exact ? "" : "tried ",
         most.is_limit ? "--batch takes, and fits" : "fits",
         bytes_text(in->arena, o->fit),
         !recomputes(o) ? ""
         : most.batch == plain.batch ? ", with nothing recomputed"
         : arena_print(in->arena, "; %" PRId64 " with nothing recomputed",
                       plain.batch));
    return -1;
}
