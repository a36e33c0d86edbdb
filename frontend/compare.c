// --compare: what each optional pass is worth.  The first row has none of them
// and each row after it has one more, in the order of the table, so the last
// pass's row has all; the row `all` sums up.  Saved is what the row's arena is
// smaller by than that of the row before, the share is of the first row's.
// Each row compiles anew, from the tree.
//
//     passes       arena bytes       MiB          bound    saved bytes   share
//     none            12345678     11.77        3456789
//     + fold          12345678     11.77        3456789              0    0.0%
#include <inttypes.h>
#include "input.h"
#include "pipeline.h"

static bool compare_row(const Input *in, const Options *o,
                        const PassOptions *with, PassRow *row)
{
    PlanSize size;
    if (!measure_plan(in, &o->frontend, with, &size)) return false;
    row->arena_bytes = size.arena_bytes;
    row->bound = size.bound;
    return true;
}

int compare_rows(const Input *in, const Options *o, PassRow *rows)
{
    PassOptions with;
    int count = 0;

    pass_options_default(&with, 0);
    rows[count].pass = NULL;
    if (!compare_row(in, o, &with, &rows[count++])) return 0;
    for (int i = 0; i < PASS_COUNT; i++) {
        if (!passes[i].optional) continue;
        with.enabled[i] = true;
        rows[count].pass = passes[i].name;
        if (!compare_row(in, o, &with, &rows[count++])) return 0;
    }
    return count;
}

// before NULL: nothing is saved yet.
static void print_row(const char *name, const PassRow *row,
                      const PassRow *before, int64_t whole, FILE *out)
{
    fprintf(out, "%-16s%14" PRId64 " %9.2f %14" PRId64, name, row->arena_bytes,
            (double)row->arena_bytes / (1 << 20), row->bound);
    if (before != NULL) {
        int64_t saved = before->arena_bytes - row->arena_bytes;
        fprintf(out, " %14" PRId64 " %6.1f%%", saved,
                100 * (double)saved / (double)whole);
    }
    fputc('\n', out);
}

bool compare(const Input *in, const Options *o, FILE *out)
{
    PassRow rows[PASS_ROWS];
    int count = compare_rows(in, o, rows);

    if (count == 0) return false;
    int64_t whole = rows[0].arena_bytes > 0 ? rows[0].arena_bytes : 1;
    fprintf(out, "%-16s%14s %9s %14s %14s %7s\n", "passes", "arena bytes",
            "MiB", "bound", "saved bytes", "share");
    print_row("none", &rows[0], NULL, whole, out);
    for (int i = 1; i < count; i++)
        print_row(arena_print(o->arena, "+ %s", rows[i].pass), &rows[i],
                  &rows[i - 1], whole, out);
    print_row("all", &rows[count - 1], &rows[0], whole, out);
    return true;
}
