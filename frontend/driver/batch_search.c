// Finds the largest batch that fits by compiling for several batches.
#include "../../ir/base/sizes.h"
#include "../../ir/base/search_cache.h"
#include "batch_search.h"

bool shares_arena(Mode file, int program)
{
    return program == (int)file || (file == TRAIN && program == EVAL);
}

void begin_batches(BatchSearch *s, const Input *in, const Options *o)
{
    *s = (BatchSearch){ .in = *in, .quiet = *in->diag, .o = o,
                        .passes = without_dumps(&o->passes),
                        .most_work = INT64_MAX, .end_work = INT64_MAX };
    s->passes.enabled[PASS_batch_split] = false;
    // Horizontal fusion does not change the arena, and the model's time adds up
    // launch by launch.
    s->passes.enabled[PASS_fuse_horizontal] = false;
    s->passes.quick = s->passes.measured = true;
    s->quiet.quiet = true;
    s->in.diag = &s->quiet;
    if (in->ast == NULL) return;
    s->ast = *in->ast;
    s->in.ast = &s->ast;
}

bool try_first(BatchSearch *s, int64_t batch)
{
    if (!try_batch(s, batch)) return false;
    add_batch(s, (BatchPoint){ 0, s->state_bytes });
    return true;
}

void add_batch(BatchSearch *s, BatchPoint point)
{
    int at = s->count++;
    for (; at > 0 && s->points[at - 1].batch > point.batch; at--)
        s->points[at] = s->points[at - 1];
    s->points[at] = point;
}

bool measure_file(BatchSearch *s, const FrontendOptions *frontend,
                  PlanSize *size)
{
    FrontendOptions one = *frontend;
    bool is_first = true;
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        PlanSize own;
        if (!shares_arena(frontend->mode, mode) ||
            (s->in.ast == NULL && mode != (int)frontend->mode))
            continue;
        one.mode = (Mode)mode;
        s->quiet.error_count = 0;
        s->quiet.over_budget = false;
        if (!measure_plan(&s->in, &one, &s->passes, &own)) return false;
        if (is_first) *size = own;
        is_first = false;
        size->state_bytes = larger(size->state_bytes, own.state_bytes);
        size->arena_bytes = larger(size->arena_bytes, own.arena_bytes);
        size->bound = larger(size->bound, own.bound);
    }
    return true;
}

bool measure_whole(BatchSearch *s, FrontendOptions *frontend, PlanSize *size)
{
    frontend->microbatch = 0;
    if (measure_file(s, frontend, size)) return true;
    if (!frontend->ghost) return false;
    frontend->ghost = false;
    return measure_file(s, frontend, size);
}

bool try_batch(BatchSearch *s, int64_t batch)
{
    FrontendOptions frontend = s->o->frontend;
    PlanSize size = {0};

    frontend.batch = batch;
    if (s->in_slices) frontend.microbatch = batch;
    int64_t spent = known_spent(s->passes.known);
    bool is_spent = s->count > 0 && (spent > s->most_work ||
                                     spent + s->last_work > s->end_work);
    if (is_spent || s->count >= MOST_POINTS ||
        !measure_file(s, &frontend, &size))
        return false;
    s->last_work = known_spent(s->passes.known) - spent;
    s->state_bytes = larger(s->state_bytes, size.state_bytes);
    add_batch(s, (BatchPoint){ batch, size.arena_bytes });
    return true;
}

// A line is trusted up to MOST_TIMES the largest batch that fits.
enum { MOST_TIMES = 256 };

// Returns the batch at which the line through two points reaches `bytes`.
static int64_t meets(const BatchPoint *a, const BatchPoint *b, int64_t bytes)
{
    double slope = (double)(b->arena_bytes - a->arena_bytes) /
                   (double)(b->batch - a->batch);
    double batch = slope > 0 ? (double)b->batch +
                   (double)(bytes - b->arena_bytes) / slope : MAX_BATCH;
    return batch < 1 ? 1 : batch > MAX_BATCH ? MAX_BATCH : (int64_t)batch;
}

// Returns the index of the last point that fits before the first that does not;
// -1 if none fits.
static int last_that_fits(const BatchSearch *s, int64_t bytes)
{
    int fits = -1;
    while (fits + 1 < s->count && s->points[fits + 1].arena_bytes <= bytes)
        fits++;
    return fits;
}

// Returns the next batch from a line through two points: the last that fits and
// the next one, which does not.  If all fit, the line is through the last and
// an earlier one with a smaller arena, for a larger batch may need less.
static int64_t next_on_line(const BatchSearch *s, int fits, int64_t bytes)
{
    int first = fits > 0 ? fits : 0, second = first + 1;
    if (fits + 1 == s->count) {
        second = fits;
        first = fits - 1;
        while (first > 0 &&
               s->points[first].arena_bytes >= s->points[fits].arena_bytes)
            first--;
    }
    return meets(&s->points[first], &s->points[second], bytes);
}

// Interpolates between a batch that fits and one that does not, or extrapolates
// from the last two.  Every fourth step bisects, so the search always ends,
// when the two batches are neighbours.
Capacity largest_batch(BatchSearch *s, int64_t bytes)
{
    for (int tries = 0;; tries++) {
        int fits = last_that_fits(s, bytes);
        bool above = fits + 1 < s->count;
        int64_t low = fits >= 0 ? s->points[fits].batch : 0;
        int64_t high = above ? s->points[fits + 1].batch : MAX_BATCH + 1;
        Capacity c = { .bytes = bytes, .batch = low,
                       .arena_bytes =
                           fits >= 0 ? s->points[fits].arena_bytes : 0,
                       .above = above ? high : 0,
                       .is_limit = low == MAX_BATCH };
        if (high <= low + 1) return c;
        int64_t next = tries % 4 == 3 && above ? low + (high - low) / 2
                                               : next_on_line(s, fits, bytes);
        if (next <= low) next = low + 1;
        if (next >= high) next = high - 1;
        if (low > 0 && next > MOST_TIMES * low) next = MOST_TIMES * low;
        if (!try_batch(s, next)) return c;
    }
}
