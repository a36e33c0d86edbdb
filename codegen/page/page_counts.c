// The counts of each launch, as a profiler would print them.

#include "../../ir/base/sizes.h"
#include "page_parts.h"

// Columns with a number at least this many times the least are marked.
static const double much = 1.5;

static double ratio(int64_t count, int64_t of)
{
    return of > 0 ? (double)count / (double)of : 0;
}

// A cell; `what` names it on narrow screens, where the row of names is hidden.
static void cell(const PageProgram *p, const char *what, const char *text, bool is_marked)
{
    fprintf(p->out, "<td class=\"number%s\" data-of=\"%s\">%s</td>", is_marked ? " hot" : "", what,
            text);
}

// Sectors or passes of a request, and the fewest that there could be.
static void against_cell(const PageProgram *p, const char *what, const int64_t *count)
{
    enum { REQUESTS, ACTUAL, LEAST };
    if (count[REQUESTS] == 0) {
        cell(p, what, "&ndash;", false);
        return;
    }
    cell(p, what,
         arena_print(p->arena, "%.2f <small>of %.2f</small>",
                     ratio(count[ACTUAL], count[REQUESTS]), ratio(count[LEAST], count[REQUESTS])),
         (double)count[ACTUAL] >= much * (double)count[LEAST]);
}

// Prints the cells after the names. The bar is relative to the largest launch, the share to all.
static void count_cells(const PageProgram *p, const StepCounts *counts, int64_t largest,
                        int64_t all)
{
    const int64_t *c = counts->of;
    const char *none = "&ndash;";
    double part = 100 * ratio(c[COUNT_INSTRUCTIONS], all);
    cell(p, "instructions", grouped_text(p->arena, c[COUNT_INSTRUCTIONS]), false);
    if (largest > 0)
        fprintf(p->out, "<td class=\"bar\"><b style=\"width:%.2f%%\"></b></td>",
                100 * ratio(c[COUNT_INSTRUCTIONS], largest));
    else
        fputs("<td class=\"bar\"></td>", p->out);
    cell(p, "share", arena_print(p->arena, "%.1f%%", part), false);
    cell(p, "per mma",
         c[COUNT_PRODUCTS] > 0
             ? arena_print(p->arena, "%.1f", ratio(c[COUNT_INSTRUCTIONS], c[COUNT_PRODUCTS]))
             : none,
         false);
    against_cell(p, "load sectors", (const int64_t[]){c[COUNT_LOADS], c[COUNT_LOAD_SECTORS],
                                                      c[COUNT_LOAD_LEAST]});
    against_cell(p, "store sectors", (const int64_t[]){c[COUNT_STORES], c[COUNT_STORE_SECTORS],
                                                       c[COUNT_STORE_LEAST]});
    against_cell(p, "shared passes", (const int64_t[]){c[COUNT_SHARED], c[COUNT_SHARED_PASSES],
                                                       c[COUNT_SHARED_LEAST]});
    cell(p, "lanes", arena_print(p->arena, "%.1f", ratio(c[COUNT_LANES], c[COUNT_INSTRUCTIONS])),
         false);
    cell(p, "divergent",
         arena_print(p->arena, "%.0f%%", 100 * ratio(c[COUNT_DIVERGENT], c[COUNT_BRANCHES])),
         false);
    cell(p, "loaded", bytes_text(p->arena, c[COUNT_LOAD_BYTES]), false);
    cell(p, "stored", bytes_text(p->arena, c[COUNT_STORE_BYTES]), false);
    fputs("</tr>\n", p->out);
}

static void count_row(const PageProgram *p, int step, const StepCounts *counts, int64_t largest,
                      int64_t all)
{
    const PlanStep *s = &p->plan->steps[step];
    const char *link = s->write_count > 0 ? page_link(p, s->writes[0]) : "";
    fprintf(p->out, "<tr><td class=\"name\"><i class=\"p-%s\"></i><a%s>%s</a></td>",
            phase_names[s->phase], link, p->step[step]);
    if (counts->of[COUNT_LAUNCHES] > 0) {
        fprintf(p->out, "<td class=\"type\">%s</td>", s->kernel);
        count_cells(p, counts, largest, all);
    } else {
        fprintf(p->out, "<td class=\"type\">%s</td><td colspan=\"11\">not counted</td></tr>\n",
                s->kernel != NULL ? s->kernel : "no kernel");
    }
}

void page_counts(const PageProgram *p)
{
    const StepCounts *counts = p->in->counts[p->plan->mode];
    StepCounts sum = {.of = {0}};
    int64_t largest = 1;
    if (counts == NULL) return;
    for (int i = 0; i < p->plan->step_count; i++) {
        for (int k = 0; k < COUNTS; k++) sum.of[k] = capped_sum(sum.of[k], counts[i].of[k]);
        if (counts[i].of[COUNT_INSTRUCTIONS] > largest) largest = counts[i].of[COUNT_INSTRUCTIONS];
    }
    fprintf(p->out,
            "<section id=\"%s-counts\" class=\"counts\"><h2>Counts of each launch</h2>\n<p>Counted "
            "on a CPU, from nvcc's PTX: instructions of warps, and those for each product of a "
            "tensor core (mma). A request of a warp takes sectors of 32 bytes in global memory, or "
            "passes over the banks of shared memory, of which the fewest possible are the second "
            "number; 1.5 times that and more is in colour. Lanes are those at an instruction; in "
            "a divergent branch some go on and others do not. Neither ptxas with its registers "
            "nor time is in these counts.</p>\n"
            "<div class=\"wide\"><table>\n<tr><th>step</th><th>kernel</th><th class=\"number\">"
            "instructions</th><th></th><th class=\"number\">share</th>",
            mode_names[p->plan->mode]);
    static const char *const heads[] = {"per mma", "load sectors", "store sectors",
                                        "shared passes", "lanes", "divergent", "loaded", "stored"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        fprintf(p->out, "<th class=\"number\">%s</th>", heads[i]);
    fputs("</tr>\n", p->out);
    for (int i = 0; i < p->plan->step_count; i++)
        count_row(p, i, &counts[i], largest, sum.of[COUNT_INSTRUCTIONS]);
    fputs("<tr><td class=\"name\">all</td><td class=\"type\"></td>", p->out);
    count_cells(p, &sum, 0, sum.of[COUNT_INSTRUCTIONS]);
    fputs("</table></div></section>\n", p->out);
}
