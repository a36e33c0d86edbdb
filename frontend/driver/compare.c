// --compare: the arena after each pass, and after each memory option of the
// command line.  The first row has no optional pass, and each further row adds
// one in table order.  Disabled passes have no row.  The row `all` is the sum.
// `saved` is the difference from the previous row, and `share` is relative to
// the first row.
//
//     passes             arena bytes    MiB    bound  saved bytes  share
//     none                  12345678  11.77  3456789
//     + simplify            12345678  11.77  3456789            0   0.0%
//     ...
//     + assign_offsets       4345678   4.14  3456789       345678   2.8%
//     + recomputation        3145678   3.00  3045678      1200000   9.7%
//     all                    3145678   3.00  3045678      9200000  74.5%
//
// The arena is that of the file: training and evaluation share it.  Rows of
// passes have the whole batch, no budget and --prefer memory.  The last row is
// the plan that the same command with -o makes; it is compiled first, and
// reports errors of the program.  An option before the last row is compiled
// only if the last plan uses it and a later one.  So at most three searches for
// a budget and one for slices run.
#include "../../ir/base/sizes.h"
#include "batch_search.h"
#include "run_pipeline.h"
#include "sheet.h"

typedef struct Comparison {
    const Options  *o;
    BatchSearch     search;     // quiet, with the passes of the row
    FrontendOptions frontend;   // of the row
    const PlanSize *last;
    PassRow        *rows;
    int             count;
} Comparison;

// ---- the last row -----------------------------------------------------------

void add_size(PlanSize *sum, const PlanSize *size)
{
    sum->arena_bytes = larger(sum->arena_bytes, size->arena_bytes);
    sum->state_bytes = larger(sum->state_bytes, size->state_bytes);
    sum->bound = larger(sum->bound, size->bound);
    sum->is_sliced |= size->is_sliced;
    sum->is_offloaded |= size->is_offloaded;
}

static bool measure_last(const Input *in, const Options *o, PlanSize *last)
{
    PassOptions passes_on = without_dumps(&o->passes);
    FrontendOptions frontend = o->frontend;
    Mode own = o->frontend.mode;
    *last = (PlanSize){ .mode = own };
    passes_on.refused = o->passes.refused;
    for (int mode = own; mode < MODE_COUNT; mode++) {
        PlanSize size;
        // The text of a graph is one program; --mode eval is of another.
        if (mode != (int)own && (in->ast == NULL || own == EVAL)) continue;
        // Inference has its own arena, which must be within the budget too.
        if (!shares_arena(own, mode) && passes_on.budget == 0) continue;
        frontend.mode = (Mode)mode;
        if (!measure_plan(in, &frontend, &passes_on, &size) ||
            in->diag->error_count > 0)
            return false;
        if (mode == (int)own) *last = size;
        else if (shares_arena(own, mode)) add_size(last, &size);
    }
    return true;
}

// ---- rows of passes ---------------------------------------------------------

static void add_row(Comparison *c, const char *name, const PlanSize *size)
{
    c->rows[c->count++] = (PassRow){ name, size->arena_bytes, size->bound };
}

// False if the whole batch can't be compiled, which -o does not need.
static bool measure_row(Comparison *c, const char *name)
{
    PlanSize size;
    if (!measure_whole(&c->search, &c->frontend, &size)) return false;
    add_row(c, name, &size);
    return true;
}

// A budget replaces the program's marks, unless --checkpoint names them.
static void begin_rows(Comparison *c)
{
    PassOptions *with = &c->search.passes;
    for (int i = 0; i < PASS_COUNT; i++)
        with->enabled[i] = !passes[i].optional;
    if (searches(with)) with->checkpoint.kind = CHECKPOINT_OFF;
    with->budget = 0;
    with->offload = false;
    with->prefer = PREFER_MEMORY;
}

static bool add_passes(Comparison *c)
{
    begin_rows(c);
    if (!measure_row(c, NULL)) return false;
    for (int i = 0; i < PASS_COUNT; i++) {
        if (!passes[i].optional || !c->o->passes.enabled[i]) continue;
        c->search.passes.enabled[i] = true;
        if (!measure_row(c, passes[i].name)) return false;
    }
    return true;
}

// ---- rows of memory options -------------------------------------------------

// True if fewer bytes are not all that the command asks for; with a budget, the
// rows of later options are that fast already.
static bool has_preference(const Comparison *c)
{
    return c->o->passes.prefer != PREFER_MEMORY && c->o->passes.budget == 0 &&
           (c->o->passes.enabled[PASS_fuse_prologue] ||
            c->o->passes.enabled[PASS_round_weights]);
}

static void use_preference(Comparison *c)
{
    c->search.passes.prefer = c->o->passes.prefer;
}

static bool has_microbatch(const Comparison *c)
{
    return c->o->frontend.microbatch > 0 && c->last->mode == TRAIN;
}

static void use_microbatch(Comparison *c)
{
    c->frontend = c->o->frontend;
}

// True if the command line asks for slices, so that the budget chooses none.
static bool has_given_slices(const Comparison *c)
{
    const Ast *ast = c->search.in.ast;
    return c->o->passes.split_samples > 0 ||
           (has_microbatch(c) && ast != NULL &&
            net_needs_whole_batch(ast, &c->o->frontend));
}

static bool has_recomputation(const Comparison *c)
{
    return c->last->mode == TRAIN && searches(&c->o->passes);
}

static void use_recomputation(Comparison *c)
{
    c->search.passes = without_dumps(&c->o->passes);
    c->search.passes.enabled[PASS_batch_split] &= has_given_slices(c);
    c->search.passes.offload = false;
}

static bool has_slices(const Comparison *c)
{
    return c->o->passes.budget > 0 && c->o->passes.enabled[PASS_batch_split] &&
           !has_given_slices(c);
}

// Sets the slices of the last plan, which saves a second search.
static void use_slices(Comparison *c)
{
    c->search.passes = without_dumps(&c->o->passes);
    c->search.passes.offload = false;
    c->search.passes.split_samples = c->last->split_samples;
    c->search.passes.split_pixels = c->last->split_pixels;
}

static bool uses_after_recomputation(const PlanSize *last)
{
    return last->is_sliced || last->is_offloaded;
}

static bool uses_after_slices(const PlanSize *last)
{
    return last->is_offloaded;
}

static bool uses_slices(const PlanSize *last)
{
    return last->is_sliced;
}

static bool has_host(const Comparison *c)
{
    return c->o->passes.offload && c->last->mode == TRAIN;
}

static const struct Lever {
    const char *name;
    bool      (*is_pulled)(const Comparison *c);
    void      (*use)(Comparison *c);        // NULL: only in the last plan
    // True if the last plan also uses later options, so that its row differs
    // from this one; NULL: it may.
    bool      (*is_more_used)(const PlanSize *last);
    // True if the last plan uses this option, which saves nothing otherwise.
    // NULL: it may.
    bool      (*is_used)(const PlanSize *last);
} levers[] = {
    { "prefer", has_preference, use_preference, NULL, NULL },
    { "micro-batch", has_microbatch, use_microbatch, NULL, NULL },
    { "recomputation", has_recomputation, use_recomputation,
      uses_after_recomputation, NULL },
    { "slices inside the net", has_slices, use_slices, uses_after_slices,
      uses_slices },
    { "maps in host memory", has_host, NULL, NULL, NULL },
};
enum { LEVERS = sizeof levers / sizeof *levers };

static bool no_lever_after(const Comparison *c, int lever)
{
    for (int i = lever + 1; i < LEVERS; i++)
        if (levers[i].is_pulled(c)) return false;
    return true;
}

// True if the budget is met, so that later options have no effect.
static bool fits_already(const Comparison *c)
{
    const PassRow *row = &c->rows[c->count - 1];
    return c->o->passes.budget > 0 && c->search.passes.budget == 0 &&
           row->arena_bytes <= c->o->passes.budget;
}

static bool add_levers(Comparison *c)
{
    for (int i = 0; i < LEVERS; i++) {
        const struct Lever *lever = &levers[i];
        PlanSize size = *c->last;
        if (!lever->is_pulled(c)) continue;
        bool is_known = no_lever_after(c, i) ||
                        (lever->is_more_used != NULL &&
                         (fits_already(c) || !lever->is_more_used(c->last)));
        if (!is_known && lever->is_used != NULL && !lever->is_used(c->last)) {
            const PassRow *row = &c->rows[c->count - 1];
            size.arena_bytes = row->arena_bytes;
            size.bound = row->bound;
        } else if (!is_known) {
            lever->use(c);
            if (!measure_file(&c->search, &c->frontend, &size)) return false;
        }
        add_row(c, lever->name, &size);
    }
    return true;
}

int compare_rows(const Input *in, const Options *o, const PlanSize *last,
                 PassRow *rows)
{
    Comparison *c = NEW(in->arena, Comparison);
    *c = (Comparison){ .o = o, .last = last, .rows = rows,
                       .frontend = o->frontend };
    begin_batches(&c->search, in, o);
    if (!add_passes(c) || !add_levers(c)) {
        error(in->diag, (Pos){ .file = NONE }, "this program compiles, but not "
              "with the whole batch at once, which --compare starts with");
        return 0;
    }
    return c->count;
}

// ---- the table --------------------------------------------------------------

static const SheetColumn columns[] = {
    { "after", NULL, AS_TEXT },
    { NULL, "passes", AS_TEXT },
    { "arena_bytes", "arena bytes", AS_COUNT },
    { NULL, "MiB", AS_MIB },
    { "bound_bytes", "bound", AS_COUNT },
    { "saved_bytes", "saved bytes", AS_COUNT },
    { "share", "share", AS_SHARE },
};

// Adds a row; before is NULL in the first, which saves nothing.
static void put_row(Sheet *s, const char *name, const char *text,
                    const PassRow *row, const PassRow *before, int64_t whole)
{
    put_text(s, name);
    put_text(s, text);
    put_count(s, row->arena_bytes);
    put_count(s, row->bound);
    if (before == NULL) return;
    int64_t saved = before->arena_bytes - row->arena_bytes;
    put_count(s, saved);
    put_number(s, (double)saved / (double)whole);
}

Sheet *compare(const Input *in, const Options *o)
{
    PassRow rows[COMPARE_ROWS];
    PlanSize last;
    Arena *arena = o->arena;
    if (!measure_last(in, o, &last)) return NULL;
    int count = compare_rows(in, o, &last, rows);
    if (count == 0) return NULL;
    int64_t whole = larger(rows[0].arena_bytes, 1);
    Sheet *s = sheet_new(arena, "compare", columns,
                         sizeof columns / sizeof *columns);
    sheet_row(s);
    put_row(s, "none", "none", &rows[0], NULL, whole);
    for (int i = 1; i < count; i++) {
        sheet_row(s);
        put_row(s, rows[i].name, arena_print(arena, "+ %s", rows[i].name),
                &rows[i], &rows[i - 1], whole);
    }
    sheet_sum(s);
    put_row(s, "all", "all", &rows[count - 1], &rows[0], whole);
    return s;
}
