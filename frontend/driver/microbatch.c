// --microbatch auto: chooses the slice size with the cheapest training step
// within the budget.
//
//   batch 12 in 1 GiB      12 at once: 40 launches recomputed, 51 ms
//                          slices of 6: 11 launches recomputed, 48 ms
//                          slices of 4: none recomputed, 46 ms    <- the least
//                          smaller slices only read weights more often
//
// Slices divide the batch.  They are compiled from the largest that fit
// downwards, until one recomputes nothing: below it, time only grows.  Nets
// whose step can't be sliced stay whole.
#include <inttypes.h>
#include "../../ir/base/format.h"
#include "batch_search.h"
#include "run_pipeline.h"

enum { MOST_SLICE_SIZES = 64 };

typedef struct Slicing {
    int64_t  slice;             // samples; the batch if it is whole
    bool     fits;
    PlanSize size;
} Slicing;

// Orders a slicing that fits before one that does not, then by cost, or by size
// if neither fits.  a has the larger slices.
static bool is_better(const Slicing *b, const Slicing *a)
{
    if (a->fits != b->fits) return b->fits;
    return b->fits ? b->size.cost.time < a->size.cost.time
                   : b->size.arena_bytes < a->size.arena_bytes;
}

// The possible slices of the batch, from large to small.
typedef struct Slices {
    int     count;
    int64_t samples[MOST_SLICE_SIZES];
} Slices;

// Lists the divisors below the batch; of too many, the largest and 1.
static Slices list_slices(int64_t batch)
{
    Slices list = { .count = 0 };
    for (int64_t count = 2; count <= batch; count++) {
        if (batch % count != 0) continue;
        if (list.count == MOST_SLICE_SIZES) list.count--;
        list.samples[list.count++] = batch / count;
    }
    return list;
}

// Compiles the k-th slices and keeps them if they are the best.  False after an
// error: the net's step can't be sliced.
static bool try_slices(BatchSearch *s, const Slices *list, int k,
                       int64_t budget, Slicing *best, Slicing *tried)
{
    FrontendOptions frontend = s->o->frontend;
    *tried = (Slicing){ .slice = list->samples[k] };
    frontend.microbatch = tried->slice;
    if (!measure_file(s, &frontend, &tried->size)) return false;
    tried->fits = tried->size.arena_bytes <= budget;
    if (is_better(tried, best)) *best = *tried;
    return true;
}

// Returns the index of the largest slices that fit, and sets *found to their
// result.  Bisects, since smaller slices have smaller arenas.  list->count if
// none fit; -1 if the net's step can't be sliced.
static int largest_that_fit(BatchSearch *s, const Slices *list, int64_t budget,
                            Slicing *best, Slicing *found)
{
    int low = 0, high = list->count - 1;
    if (high < 0 || !try_slices(s, list, low, budget, best, found)) return -1;
    if (found->fits) return low;
    if (high > 0 && !try_slices(s, list, high, budget, best, found)) return -1;
    if (!found->fits) return list->count;
    while (low + 1 < high) {
        Slicing tried;
        int middle = low + (high - low) / 2;
        if (!try_slices(s, list, middle, budget, best, &tried)) break;
        if (!tried.fits) low = middle;
        else *found = tried, high = middle;
    }
    return high;
}

// Tries slices from the largest that fit down to the first without
// recomputation.  False if the net's step can't be sliced.
static bool find_slices(BatchSearch *s, int64_t budget, Slicing *best)
{
    Slices list = list_slices(best->size.batch);
    Slicing last;
    int k = largest_that_fit(s, &list, budget, best, &last);
    if (k < 0) return false;
    while (last.size.recomputed > 0 && ++k < list.count)
        if (!try_slices(s, &list, k, budget, best, &last)) break;
    return true;
}

static const char *recomputed_text(Arena *arena, int32_t recomputed)
{
    if (recomputed == 0) return "nothing recomputed";
    return arena_print(arena, "%d launch%s recomputed", (int)recomputed,
                       recomputed == 1 ? "" : "es");
}

static void say_slices(const Input *in, int64_t budget, const Slicing *best,
                       const Slicing *whole, bool any)
{
    Arena *arena = in->arena;
    const char *than = "";
    int64_t batch = whole->size.batch;
    if (best->slice < batch && whole->fits)
        than = arena_print(arena, "; at once it takes %s there",
                           time_text(arena, whole->size.cost.time));
    else if (best->slice < batch)
        than = "; at once it does not fit";
    else if (!any && batch > 1 && whole->size.recomputed > 0)
        than = "; this net has no step in slices";
    note(in->diag, (Pos){ .file = NONE }, "the batch of %" PRId64 " is taken "
         "%s, in %s: %s in the model, %s%s", batch,
         best->slice == batch
             ? "at once"
             : arena_print(arena, "in slices of %" PRId64, best->slice),
         bytes_text(arena, budget), time_text(arena, best->size.cost.time),
         recomputed_text(arena, best->size.recomputed), than);
}

int choose_slices(const Input *in, Options *o)
{
    BatchSearch *s = NEW(in->arena, BatchSearch);
    FrontendOptions at_once = o->frontend;
    int64_t budget = o->passes.budget;
    Slicing whole = { .slice = 0 };

    begin_batches(s, in, o);
    s->passes.enabled[PASS_batch_split] = o->passes.enabled[PASS_batch_split];
    // Errors of the program are reported by the compilation that follows.
    if (in->ast == NULL || !measure_whole(s, &at_once, &whole.size)) return -1;
    whole.slice = whole.size.batch;
    whole.fits = whole.size.arena_bytes <= budget;
    Slicing best = whole;
    bool is_free = whole.fits && whole.size.recomputed == 0;
    bool any =
        !is_free &&
        (o->frontend.ghost || !net_needs_whole_batch(in->ast, &at_once)) &&
        find_slices(s, budget, &best);
    if (best.slice < whole.slice) o->frontend.microbatch = best.slice;
    else o->frontend = at_once;
    if (best.fits) say_slices(in, budget, &best, &whole, any);
    return -1;
}
