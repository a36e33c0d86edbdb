// --curve: memory against cost.  Each row is a training step with a smaller
// arena than the previous row.  It has another --prefer, or recomputes more
// launches, as a budget makes it.  Columns share, time and FLOPs are
// relative to the first row.  Column bound is a lower bound on the time of any
// schedule of that program with at most as many live bytes.
//
//     arena bytes    MiB   share    time   FLOPs  recomputed   bound  prefer
//        12345678  11.77  100.0%  +0.00%  +0.00%           0  +0.00%  time
//        11945678  11.39   96.8%  +0.12%  +0.10%           0  +0.12%  memory
//         9876543   9.42   80.0%  +0.44%  +0.10%           4  +0.40%  memory
#include "../../passes/decide/decide_remat.h"
#include "input.h"
#include "run_pipeline.h"

enum { CURVE_POINTS = 32 };

bool find_curve(const Input *in, const Options *o, ArenaCosts *curve)
{
    PassOptions ordered = without_dumps(&o->passes);
    ordered.stop_after = "schedule";
    if (ordered.budget > 0) ordered.prefer = PREFER_MEMORY;
    ordered.budget = 0;
    Graph *g = input_graph(in, &o->frontend);
    if (g == NULL) return false;
    if (in->ast == NULL) {
        error(in->diag, (Pos){ .file = NONE }, "--curve needs a program, and "
              "'%s' is a graph", in->path);
        return false;
    }
    run_passes(g, &ordered);
    *curve = budget_curve(g, &ordered, CURVE_POINTS);
    return true;
}

static const SheetColumn columns[] = {
    { "arena_bytes", "arena bytes", AS_COUNT },
    { NULL, "MiB", AS_MIB },
    { "share", "share", AS_SHARE },
    { "time_change", "time", AS_CHANGE },
    { "flops_change", "FLOPs", AS_CHANGE },
    { "recomputed_launches", "recomputed", AS_COUNT },
    { "time_bound_change", "bound", AS_CHANGE },
    { "prefer", "prefer", AS_TEXT },
};

enum { MOST_ROWS = 2 * CURVE_POINTS + PREFER_COUNT };

// A row, with its whole time in picoseconds, FLOPs and bound.
typedef struct CurveRow {
    Prefer    prefer;
    ArenaCost cost;
    double    time, flops, bound;
} CurveRow;

// True if a has at most as many bytes as b and takes at most as long.
static bool is_as_good(const CurveRow *a, const CurveRow *b)
{
    return a->cost.arena_bytes <= b->cost.arena_bytes && a->time <= b->time;
}

// Adds a row unless another is better; drops those that are not better than it.
static int add_row(CurveRow *rows, int count, CurveRow row)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (is_as_good(&rows[i], &row) && !is_as_good(&row, &rows[i]))
            return count;
    for (int i = 0; i < count; i++)
        if (!is_as_good(&row, &rows[i])) rows[kept++] = rows[i];
    int k = kept++;
    for (; k > 0 && rows[k - 1].cost.arena_bytes < row.cost.arena_bytes; k--)
        rows[k] = rows[k - 1];
    rows[k] = row;
    return kept;
}

// Measures the step that --prefer makes without recomputation; adds it.
static bool add_preferred(const Input *in, const Options *o, Prefer prefer,
                          PlanSize *size, CurveRow *rows, int *count)
{
    PassOptions plain = without_dumps(&o->passes);
    plain.prefer = prefer;
    plain.budget = 0;
    plain.checkpoint.kind = CHECKPOINT_OFF;
    if (!measure_plan(in, &o->frontend, &plain, size)) return false;
    double time = (double)size->cost.time;
    *count = add_row(rows, *count, (CurveRow){
        prefer, { .arena_bytes = size->arena_bytes }, time,
        (double)size->cost.cost.flops, time });
    return true;
}

// Adds the steps that budgets make by recomputation of the one measured.
static bool add_recomputing(const Input *in, const Options *o, Prefer prefer,
                            const PlanSize *size, CurveRow *rows, int *count)
{
    ArenaCosts curve;
    Options own = *o;
    own.passes.prefer = prefer;
    own.passes.budget = 0;
    if (!find_curve(in, &own, &curve)) return false;
    double time = (double)size->cost.time;
    double flops = (double)size->cost.cost.flops;
    for (int32_t i = 0; i < curve.count; i++) {
        const ArenaCost *c = &curve.point[i];
        *count = add_row(rows, *count, (CurveRow){
            prefer, *c, time * (1 + c->recomputed.time),
            flops * (1 + c->recomputed.flops), time * (1 + c->bound) });
    }
    return true;
}

Sheet *list_curve(const Input *in, const Options *o)
{
    CurveRow rows[MOST_ROWS];
    PlanSize size[PREFER_COUNT];
    int count = 0;
    bool any = o->passes.prefer != PREFER_MEMORY;
    for (int prefer = any ? PREFER_TIME : PREFER_MEMORY;
         prefer >= PREFER_MEMORY; prefer--)
        if (!add_preferred(in, o, (Prefer)prefer, &size[prefer], rows, &count))
            return NULL;
    if ((any && !add_recomputing(in, o, PREFER_TIME, &size[PREFER_TIME], rows,
                                 &count)) ||
        !add_recomputing(in, o, PREFER_MEMORY, &size[PREFER_MEMORY], rows,
                         &count))
        return NULL;
    Sheet *s = sheet_new(o->arena, "curve", columns,
                         sizeof columns / sizeof *columns);
    for (int i = 0; i < count; i++) {
        const CurveRow *row = &rows[i];
        sheet_row(s);
        put_count(s, row->cost.arena_bytes);
        put_number(s, (double)row->cost.arena_bytes /
                          (double)rows[0].cost.arena_bytes);
        put_number(s, row->time / rows[0].time - 1);
        put_number(s, row->flops / rows[0].flops - 1);
        put_count(s, row->cost.recomputed.launches);
        put_number(s, row->bound / rows[0].time - 1);
        put_text(s, prefer_names[row->prefer]);
    }
    return s;
}
