// --report: compiles the contents of the page: the programs of the output, the
// rows of --compare, and the largest batches for several memory sizes.
#include <string.h>
#include "../../ir/base/sizes.h"
#include "../../ir/base/search_cache.h"
#include "batch_search.h"
#include "run_pipeline.h"

// Limits of the search work (ir/base/search_cache.h): of a page before its
// curve, and a minimum for other batches.
#define PAGE_WORK  INT64_C(2500000000)
#define BATCH_WORK INT64_C(500000000)

// Finds the largest batches.  Without a budget, the page's own batch is
// compiled already and is the first point.
static void find_batches(BatchSearch *s, PageInput *page)
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
    bool is_plain = s->passes.budget == 0;
    s->passes.budget = 0;
    if (is_plain) add_batch(s, point);
    else if (!try_batch(s, point.batch)) return;
    if (!try_batch(s, point.batch > 1 ? 1 : 2)) return;
    for (int i = 0; i < SIZES; i++)
        found[i] = largest_batch(s, (int64_t)gib[i] << 30);
    page->point_count = s->count;
    page->capacities = found;
    page->capacity_count = SIZES;
}

// ---- the page ---------------------------------------------------------------

// Adds the program of one mode; the text of a graph has its own mode.
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
    return page->plan[g->mode] != NULL;
}

// Returns the size of the file's arena; the text of a graph has its own mode.
static PlanSize file_size(const PageInput *page, Mode own)
{
    PlanSize size = { .arena_bytes = 0 };
    bool is_first = true;
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        if (page->g[mode] == NULL || (page->quoted && !shares_arena(own, mode)))
            continue;
        PlanSize next = plan_size(page->g[mode]);
        if (is_first) size = next;
        else add_size(&size, &next);
        is_first = false;
    }
    return size;
}

bool report_plan(const Input *in, const Options *o, FILE *out)
{
    BatchSearch *search = NEW(o->arena, BatchSearch);
    PassRow rows[COMPARE_ROWS];
    PlanSize last;
    const char *slash = strrchr(in->path, '/');
    Mode mode = o->frontend.mode;
    bool trains = mode == TRAIN && in->ast != NULL;
    PageInput page = { .arena = o->arena, .command_line = o->command_line,
                       .file = slash != NULL ? slash + 1 : in->path,
                       .rows = rows, .quoted = in->ast != NULL };

    if (!add_program(&page, in, o, mode) ||
        (trains && (!add_program(&page, in, o, EVAL) ||
                    !add_program(&page, in, o, INFER))))
        return false;
    if (o->counts != NULL && !read_counts(o->counts, in->diag, &page))
        return false;
    last = file_size(&page, mode);
    page.row_count = compare_rows(in, o, &last, rows);
    if (page.row_count == 0) return false;
    if (in->ast != NULL) {
        begin_batches(search, in, o);
        int64_t spent = known_spent(o->passes.known);
        search->most_work = spent + larger(PAGE_WORK - spent, BATCH_WORK);
        find_batches(search, &page);
    }
    if (o->curve && !find_curve(in, o, &page.costs)) return false;
    if (in->diag->error_count > 0) return false;
    print_page(&page, out);
    return true;
}
