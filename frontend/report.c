// --report: compiles what the page shows.  The programs that the output would
// hold, the rows of --compare, and other batches, to find the largest for some
// sizes of memory.
#include <string.h>
#include "input.h"
#include "pipeline.h"

enum {
    MOST_POINTS = 64,           // batches compiled
    MOST_NODES = 28000,         // of all their graphs: what bounds the time
    MOST_BATCH = 1 << 24        // that --batch takes
};

typedef struct Search {
    const Input   *in;
    const Options *o;
    BatchPoint     points[MOST_POINTS];     // by batch
    int            count;
    int64_t        nodes;       // compiled so far
} Search;

// Without dumps and times: the output, or the page's own programs, have them.
static PassOptions without_dumps(const PassOptions *o)
{
    PassOptions quiet = *o;
    quiet.dump = quiet.dump_dir = NULL;
    quiet.time = false;
    return quiet;
}

// ---- batches ----------------------------------------------------------------

// The programs that share the arena of a file of this mode.
static bool shares_arena(Mode file, int program)
{
    return program == (int)file || (file == TRAIN && program == EVAL);
}

static void add_point(Search *s, BatchPoint point)
{
    int at = s->count++;
    for (; at > 0 && s->points[at - 1].batch > point.batch; at--)
        s->points[at] = s->points[at - 1];
    s->points[at] = point;
}

// Compiles for a batch that was not yet, and adds its point; false when the
// work is spent, or after errors.
static bool try_batch(Search *s, int64_t batch)
{
    BatchPoint point = { .batch = batch };
    const PassOptions quiet = without_dumps(&s->o->passes);
    FrontendOptions frontend = s->o->frontend;

    frontend.batch = batch;
    if (s->count == MOST_POINTS || s->nodes > MOST_NODES) return false;
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        PlanSize size;
        if (!shares_arena(s->o->frontend.mode, mode)) continue;
        frontend.mode = (Mode)mode;
        if (!measure_plan(s->in, &frontend, &quiet, &size)) return false;
        s->nodes += size.nodes;
        if (size.arena_bytes > point.arena_bytes)
            point.arena_bytes = size.arena_bytes;
    }
    add_point(s, point);
    return true;
}

// The batch at which the line through two points reaches some bytes.
static int64_t meets(const BatchPoint *a, const BatchPoint *b, int64_t bytes)
{
    double slope = (double)(b->arena_bytes - a->arena_bytes) /
                   (double)(b->batch - a->batch);
    double batch = slope > 0 ? (double)b->batch +
                   (double)(bytes - b->arena_bytes) / slope : MOST_BATCH;
    return batch < 1 ? 1 : batch > MOST_BATCH ? MOST_BATCH : (int64_t)batch;
}

// Which of the points is the last that fits below the first that does not; -1:
// none does.
static int last_that_fits(const Search *s, int64_t bytes)
{
    int fits = -1;
    while (fits + 1 < s->count && s->points[fits + 1].arena_bytes <= bytes)
        fits++;
    return fits;
}

// Between a batch that fits and one that does not the next one to try is where
// the line through the two, or through the last two, says, and every fourth
// time halfway; so it ends where the two are neighbours, whatever lies between.
static Capacity largest_for(Search *s, int64_t bytes)
{
    for (int tries = 0;; tries++) {
        int fits = last_that_fits(s, bytes);
        bool above = fits + 1 < s->count;
        int64_t low = fits >= 0 ? s->points[fits].batch : 0;
        int64_t high = above ? s->points[fits + 1].batch : MOST_BATCH + 1;
        Capacity c = { .bytes = bytes, .batch = low,
                       .arena_bytes =
                           fits >= 0 ? s->points[fits].arena_bytes : 0,
                       .above = above ? high : 0,
                       .is_limit = low == MOST_BATCH };
        if (high == low + 1) return c;
        int first = fits + 1 < s->count ? fits : fits - 1;
        if (first < 0) first = 0;
        int64_t next = tries % 4 == 3 && above ? low + (high - low) / 2
                     : meets(&s->points[first], &s->points[first + 1], bytes);
        if (next <= low) next = low + 1;
        if (next >= high) next = high - 1;
        // A line is trusted no further than this.
        if (low > 0 && next > 64 * low) next = 64 * low;
        if (!try_batch(s, next)) return c;
    }
}

// The page's own batch is compiled already.
static void find_batches(Search *s, PageInput *page)
{
    static const int gib[] = { 2, 4, 8, 16, 24 };
    enum { SIZES = sizeof gib / sizeof *gib };
    Capacity *found = NEW_ARRAY(page->arena, SIZES, Capacity);
    Mode own = s->o->frontend.mode;
    BatchPoint point = { .batch = page->plan[own]->batch };

    page->points = s->points;
    for (int mode = 0; mode < MODE_COUNT; mode++)
        if (shares_arena(own, mode) &&
            page->plan[mode]->arena_bytes > point.arena_bytes)
            point.arena_bytes = page->plan[mode]->arena_bytes;
    add_point(s, point);
    if (!try_batch(s, point.batch > 1 ? 1 : 2)) return;
    for (int i = 0; i < SIZES; i++)
        found[i] = largest_for(s, (int64_t)gib[i] << 30);
    page->point_count = s->count;
    page->capacities = found;
    page->capacity_count = SIZES;
}

// ---- the page ---------------------------------------------------------------

// The graph of one mode; the text of a graph is of its own.
static bool add_program(PageInput *page, const Input *in, const Options *o,
                        Mode mode)
{
    FrontendOptions frontend = o->frontend;
    PassOptions passes_on = only_report(o) ? o->passes
                                           : without_dumps(&o->passes);
    frontend.mode = mode;
    Graph *g = input_graph(in, &frontend);
    if (g == NULL) return false;
    page->g[g->mode] = g;
    page->plan[g->mode] = run_pipeline(g, &passes_on);
    return true;
}

bool report_plan(const Input *in, const Options *o, FILE *out)
{
    Search *search = NEW(o->arena, Search);
    PassRow rows[PASS_ROWS];
    const char *slash = strrchr(in->path, '/');
    Mode mode = o->frontend.mode;
    bool trains = mode == TRAIN && in->ast != NULL;
    PageInput page = { .arena = o->arena, .command_line = o->command_line,
                       .file = slash != NULL ? slash + 1 : in->path,
                       .rows = rows, .quoted = in->ast != NULL };

    page.row_count = compare_rows(in, o, rows);
    if (page.row_count == 0 || !add_program(&page, in, o, mode)) return false;
    if (trains && (!add_program(&page, in, o, EVAL) ||
                   !add_program(&page, in, o, INFER)))
        return false;
    *search = (Search){ .in = in, .o = o };
    if (in->ast != NULL) find_batches(search, &page);
    if (in->diag->error_count > 0) return false;
    print_page(&page, out);
    return true;
}
