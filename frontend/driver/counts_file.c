// --counts: the counts of each launch for the page, from the file that
// CNNC_HOST_PTX_TABLE names (runtime/ptx/README.md).  The first line names the
// columns, of which the last is the kernel; every other line is a launch.  All
// launches of the program must be there, with its kernels and blocks.
#include <inttypes.h>
#include <string.h>
#include "../../ir/launch_group.h"
#include "../../ir/text/text.h"
#include "../read_file.h"
#include "run_pipeline.h"

static const char *const names[COUNTS] = {
    [COUNT_LAUNCHES] = "launches", [COUNT_BLOCKS] = "blocks",
    [COUNT_INSTRUCTIONS] = "instructions", [COUNT_LANES] = "lanes",
    [COUNT_PRODUCTS] = "mma", [COUNT_BRANCHES] = "branches",
    [COUNT_DIVERGENT] = "divergent",
    [COUNT_LOADS] = "load_requests", [COUNT_LOAD_BYTES] = "load_bytes",
    [COUNT_LOAD_SECTORS] = "load_sectors", [COUNT_LOAD_LEAST] = "load_least",
    [COUNT_STORES] = "store_requests", [COUNT_STORE_BYTES] = "store_bytes",
    [COUNT_STORE_SECTORS] = "store_sectors",
    [COUNT_STORE_LEAST] = "store_least",
    [COUNT_SHARED] = "shared_requests", [COUNT_SHARED_PASSES] = "shared_passes",
    [COUNT_SHARED_LEAST] = "shared_least",
};

enum { MOST_COLUMNS = 128, STEP = COUNTS };

typedef struct CountsTable {
    Reader      r;
    PageInput  *page;
    StepCounts *counts[MODE_COUNT];
    int64_t    *grid[MODE_COUNT];   // blocks of each step; 0: no kernel
    int         column[COUNTS + 1]; // by count, and of the step; NONE
    int         column_count;       // of numbers
} CountsTable;

// Fails at a place of the line that was read before.
static void fail_at(Reader *r, const char *at, const char *what)
{
    r->at = at;
    read_fail(r, what);
}

static void read_columns(CountsTable *t)
{
    Reader *r = &t->r;
    bool has_kernel = false;
    for (int k = 0; k <= COUNTS; k++) t->column[k] = NONE;
    while (!r->failed && !has_kernel && peek_char(r) != '\0' &&
           t->column_count < MOST_COLUMNS) {
        Word word = read_word(r);
        int count = word_is(word, "step") ? STEP
                                          : word_place(word, names, COUNTS);
        has_kernel = word_is(word, "kernel");
        if (count != NONE) t->column[count] = t->column_count;
        t->column_count += !has_kernel;
    }
    for (int k = 0; k <= COUNTS && !r->failed; k++)
        if (t->column[k] == NONE || !has_kernel)
            fail_at(r, r->start,
                    arena_print(r->arena, "there is no column '%s': a table of "
                                "counts is what CNNC_HOST_PTX_TABLE writes",
                                !has_kernel ? "kernel"
                                : k == STEP ? "step" : names[k]));
}

// Finds the program of a step, whose number becomes that in its plan.  An
// emitted file has the steps of evaluation after those of training, and infers
// with them.  NULL if it has fewer.
static const Plan *plan_of_step(const CountsTable *t, int64_t *step)
{
    const Plan *const *plan = t->page->plan;
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        if (plan[mode] == NULL || (mode == INFER && plan[TRAIN] != NULL))
            continue;
        if (*step < plan[mode]->step_count) return plan[mode];
        *step -= plan[mode]->step_count;
    }
    return NULL;
}

static void find_grids(CountsTable *t, Mode mode)
{
    const Graph *g = t->page->g[mode];
    int step = 0, count = t->page->plan[mode]->step_count;
    t->counts[mode] = NEW_ARRAY(t->r.arena, count, StepCounts);
    t->grid[mode] = NEW_ARRAY(t->r.arena, count, int64_t);
    for (NodeId id = 0; id < g->node_count; id = group_end(g, id)) {
        Launch launch = { .g = NULL };
        if (!is_launch(&g->nodes[id])) continue;
        group_launch(g, id, &launch);
        bool has_kernel = !launch.library && !launch.copy;
        t->grid[mode][step++] = has_kernel ? launch.grid : 0;
    }
}

// True if the kernel, as a launch has it with its arguments, has this name.
static bool is_kernel(const char *name, Word kernel)
{
    int length = (int)strlen(name);
    return kernel.length >= length && !memcmp(kernel.text, name, (size_t)length)
           && (kernel.length == length || kernel.text[length] == '<');
}

// Adds a launch to its program; `number` is its step in the file.
static void add_counts(CountsTable *t, const int64_t *values, Word kernel)
{
    Reader *r = &t->r;
    int64_t number = values[t->column[STEP]], step = number;
    const Plan *plan = plan_of_step(t, &step);
    if (plan == NULL) {
        fail_at(r, r->start, arena_print(r->arena, "the program has no step %"
                                         PRId64, number));
        return;
    }
    if (t->counts[plan->mode] == NULL) find_grids(t, plan->mode);
    StepCounts *counts = &t->counts[plan->mode][step];
    int64_t grid = t->grid[plan->mode][step];
    const char *name = plan->steps[step].kernel;
    if (grid == 0 || !is_kernel(name, kernel)) {
        const char *own = grid == 0 ? "no kernel" :
                          arena_print(r->arena, "a launch of %s", name);
        fail_at(r, kernel.text, arena_print(r->arena, "step %" PRId64 " of "
                                            "this program is %s", number, own));
        return;
    }
    if (counts->of[COUNT_LAUNCHES] > 0) {
        fail_at(r, r->start, arena_print(r->arena, "step %" PRId64 " is there "
                                         "twice", number));
        return;
    }
    for (int k = 0; k < COUNTS; k++) counts->of[k] = values[t->column[k]];
    int64_t launches = counts->of[COUNT_LAUNCHES];
    if (launches < 1 || counts->of[COUNT_BLOCKS] % launches != 0 ||
        counts->of[COUNT_BLOCKS] / launches != grid)
        fail_at(r, r->start,
                arena_print(r->arena, "step %" PRId64 " of this program has %"
                            PRId64 " blocks in a launch: are batch and options "
                            "the same?", number, grid));
}

static void read_row(CountsTable *t)
{
    int64_t values[MOST_COLUMNS];
    Reader *r = &t->r;
    if (peek_char(r) == '\0') return;
    for (int k = 0; k < t->column_count; k++) {
        const char *at = (skip_blanks(r), r->at);
        values[k] = read_int(r);
        if (!r->failed && values[k] < 0 && k != t->column[STEP])
            fail_at(r, at, "a count is negative");
        if (r->failed) return;
    }
    skip_blanks(r);
    // Launches outside of the plan have no step.
    if (values[t->column[STEP]] >= 0)
        add_counts(t, values, (Word){ r->at, (int)(r->end - r->at) });
}

// Fails where a step of a program has no counts.  Evaluation has steps that
// inference leaves out.
static void check_whole(CountsTable *t)
{
    bool is_empty = true;
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        const Plan *plan = t->page->plan[mode];
        const StepCounts *counts = t->counts[mode];
        is_empty = is_empty && counts == NULL;
        for (int i = 0; counts != NULL && i < plan->step_count; i++)
            if (mode != EVAL && t->grid[mode][i] > 0 &&
                counts[i].of[COUNT_LAUNCHES] == 0) {
                read_fail(&t->r, arena_print(t->r.arena, "step %d is missing, "
                                             "a launch of %s", i,
                                             plan->steps[i].kernel));
                return;
            }
    }
    if (is_empty) read_fail(&t->r, "there is no step of the program");
}

static void read_table(CountsTable *t)
{
    const Source *source = &t->r.diag->sources[0];
    t->r.pos = (Pos){ .column = 1, .length = 1 };
    for (int32_t line = 1; line <= source->line_count && !t->r.failed; line++) {
        int32_t length;
        t->r.start = t->r.at = source_line(source, line, &length);
        t->r.end = t->r.start + length;
        if (length > 0 && t->r.end[-1] == '\r') t->r.end--;
        t->r.pos.line = line;
        if (line == 1) read_columns(t);
        else read_row(t);
    }
    if (!t->r.failed) check_whole(t);
}

bool read_counts(const char *path, Diag *diag, PageInput *page)
{
    // The file has its own Diag, since the page quotes only the program.
    Diag own = diag_apart(diag);
    CountsTable t = { .r = { .arena = page->arena, .diag = &own },
                      .page = page };
    size_t length;
    const char *text = read_named_text(&own, page->arena, path, &length);
    diag->file_failed |= text == NULL;
    if (text == NULL) return false;
    diag_add_source(&own, path, text, length);
    read_table(&t);
    for (int mode = 0; mode < MODE_COUNT; mode++)
        page->counts[mode] = t.counts[mode];
    return own.error_count == 0;
}
