// --compare: what each optional pass is worth.  The first row has none of them
// and each row after it has one more, in the order of the table, so the last
// has all.  Each row compiles anew, from the tree.
//
//     passes                bytes        MiB      bound    saved
//     none               12345678      11.77    3456789
//     + fold             12345678      11.77    3456789     0.0%
#include <inttypes.h>
#include "input.h"
#include "pipeline.h"

static bool compare_row(const Input *in, const Options *o,
                        const PassOptions *with, const char *name,
                        int64_t *first, FILE *out)
{
    Graph *g = input_graph(in, &o->frontend);
    if (g == NULL) return false;
    const Plan *plan = run_pipeline(g, with);
    int64_t bytes = plan->arena_bytes;

    fprintf(out, "%-20s %15" PRId64 " %11.2f %15" PRId64, name, bytes,
            (double)bytes / (1 << 20), plan->max_live_bytes);
    if (*first == 0)
        *first = bytes;
    else
        fprintf(out, " %7.1f%%",
                100 * (1 - (double)bytes / (double)*first));
    fputc('\n', out);
    return true;
}

bool compare(const Input *in, const Options *o, FILE *out)
{
    PassOptions with;
    int64_t first = 0;

    pass_options_default(&with, 0);
    fprintf(out, "%-20s %15s %11s %15s %8s\n", "passes", "arena bytes", "MiB",
            "bound", "saved");
    if (!compare_row(in, o, &with, "none", &first, out)) return false;
    for (int i = 0; i < PASS_COUNT; i++) {
        if (!passes[i].optional) continue;
        with.enabled[i] = true;
        const char *name = arena_print(o->arena, "+ %s", passes[i].name);
        if (!compare_row(in, o, &with, name, &first, out)) return false;
    }
    return true;
}
