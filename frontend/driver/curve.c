// --curve: memory against cost.  Each row is a training step that recomputes
// more than the previous row and has a smaller arena.  Columns share, time and
// FLOPs are relative to the first row.  Column bound is a lower bound on the
// time of any schedule with at most as many live bytes.
//
//     arena bytes    MiB   share    time   FLOPs  recomputed   bound
//        12345678  11.77  100.0%  +0.00%  +0.00%           0  +0.00%
//         9876543   9.42   80.0%  +0.31%  +0.00%           4  +0.28%
#include "../../passes/decide/decide_remat.h"
#include "input.h"
#include "run_pipeline.h"

enum { CURVE_POINTS = 32 };

bool find_curve(const Input *in, const Options *o, ArenaCosts *curve)
{
    PassOptions ordered = without_dumps(&o->passes);
    ordered.stop_after = "schedule";
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
};

Sheet *list_curve(const Input *in, const Options *o)
{
    ArenaCosts curve;
    if (!find_curve(in, o, &curve)) return NULL;
    Sheet *s = sheet_new(o->arena, "curve", columns,
                         sizeof columns / sizeof *columns);
    for (int32_t i = 0; i < curve.count; i++) {
        const ArenaCost *c = &curve.point[i];
        sheet_row(s);
        put_count(s, c->arena_bytes);
        put_number(s, (double)c->arena_bytes /
                          (double)curve.point[0].arena_bytes);
        put_number(s, c->recomputed.time);
        put_number(s, c->recomputed.flops);
        put_count(s, c->recomputed.launches);
        put_number(s, c->bound);
    }
    return s;
}
