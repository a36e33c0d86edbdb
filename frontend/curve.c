// --curve: memory against cost.  Each row is a training step that computes more
// again than the row before, and has a smaller arena: the share is of the first
// row's arena, time and FLOPs are what it takes beside that, and the bound is
// the time that any program with as few bytes alive takes beside it.
//
//     arena bytes       MiB   share     time    FLOPs  again    bound
//        12345678     11.77  100.0%   +0.00%   +0.00%      0   +0.00%
//         9876543      9.42   80.0%   +0.31%   +0.00%      4   +0.28%
#include <inttypes.h>
#include "../passes/budget.h"
#include "input.h"
#include "pipeline.h"

enum { CURVE_POINTS = 32 };

bool find_curve(const Input *in, const Options *o, ArenaCosts *curve)
{
    PassOptions ordered = without_dumps(&o->passes);
    ordered.stop_after = "schedule";
    ordered.budget = 0;
    Graph *g = input_graph(in, &o->frontend);
    if (g == NULL) return false;
    if (in->ast == NULL) {
        error(in->diag, (Pos){ .file = NONE }, "--curve is of a program, and "
              "'%s' is a graph", in->path);
        return false;
    }
    run_passes(g, &ordered);
    *curve = budget_curve(g, &ordered, CURVE_POINTS);
    return true;
}

bool print_curve(const Input *in, const Options *o, FILE *out)
{
    ArenaCosts curve;
    if (!find_curve(in, o, &curve)) return false;
    fprintf(out, "%14s %9s %7s %8s %8s %6s %8s\n", "arena bytes", "MiB",
            "share", "time", "FLOPs", "again", "bound");
    for (int32_t i = 0; i < curve.count; i++) {
        const ArenaCost *c = &curve.point[i];
        fprintf(out, "%14" PRId64 " %9.2f %6.1f%% %+7.2f%% %+7.2f%% %6d "
                "%+7.2f%%\n", c->arena_bytes,
                (double)c->arena_bytes / (1 << 20),
                100 * (double)c->arena_bytes /
                    (double)curve.point[0].arena_bytes,
                100 * c->again.time, 100 * c->again.flops,
                (int)c->again.launches, 100 * c->bound);
    }
    return true;
}
