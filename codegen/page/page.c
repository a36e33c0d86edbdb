// Prints the page from top to bottom. All text of the user passes through html_escaped first.

#include "page.h"

#include <inttypes.h>
#include <string.h>

#include "../../ir/gpu/gpu_model.h"
#include "../../ir/gpu/precision.h"
#include "../../ir/families/prune.h"
#include "page_parts.h"

static const char *const titles[MODE_COUNT] = {"Training", "Evaluation", "Inference"};

static void head(const PageInput *in, const PageProgram *p, FILE *out)
{
    const char *net = html_escaped(in->arena, p->plan->net, strlen(p->plan->net));
    fprintf(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
        "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
        "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n<title>%s: where "
        "the memory goes</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n",
        net, page_style);
    fprintf(out,
            "<header><h1>%s</h1>\n<p class=\"made\"><code>%s</code>, batch %" PRId64 ", %s. Made "
            "by <code>%s</code></p>\n<nav>",
            net, html_escaped(in->arena, in->file, strlen(in->file)), p->plan->batch,
            precision_name(p->g),
            html_escaped(in->arena, in->command_line, strlen(in->command_line)));
    for (int mode = 0; mode < MODE_COUNT; mode++)
        if (in->plan[mode] != NULL)
            fprintf(out, "<a href=\"#%s\">%s</a>", mode_names[mode], titles[mode]);
    if (p->plan->step_count > 0) fputs("<a href=\"#peak\">Peak</a>", out);
    if (in->counts[p->plan->mode] != NULL)
        fprintf(out, "<a href=\"#%s-counts\">Counts</a>", mode_names[p->plan->mode]);
    fputs("<a href=\"#passes\">Passes</a>", out);
    if (in->costs.count > 0) fputs("<a href=\"#costs\">Cost</a>", out);
    if (in->capacity_count > 0) fputs("<a href=\"#batches\">Batch</a>", out);
    if (in->quoted) fputs("<a href=\"#program\">Program</a>", out);
    fputs("</nav></header>\n", out);
}

// ---- figures ------------------------------------------------------------------------------------

static void tile(const PageProgram *p, const char *what, const char *value, const char *note)
{
    fprintf(p->out, "<div><dt>%s</dt><dd>%s<small>%s</small></dd></div>\n", what, value, note);
}

static const char *bytes_note(const PageProgram *p, int64_t bytes)
{
    return arena_print(p->arena, "%s bytes", grouped_text(p->arena, bytes));
}

static void time_tile(const PageProgram *p)
{
    PhaseCost sums[PHASE_COUNT];
    const Gpu *gpu = graph_gpu(p->g);
    int64_t time = 0, flops = 0;
    step_cost(p->g, gpu, false, sums);
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        time = capped_sum(time, sums[phase].time);
        flops = capped_sum(flops, sums[phase].cost.flops);
    }
    time = capped_sum(time, host_use(p->g).waiting);
    tile(p, "model time", time_text(p->arena, time),
         arena_print(p->arena, "in a model of %s, for %s; not measured",
                     html_escaped(p->arena, gpu->name, strlen(gpu->name)),
                     flops_text(p->arena, flops)));
}

// Prints the cost of the recomputation that a budget requires.
static void recomputed_tile(const PageProgram *p)
{
    if (p->g->decisions.fit == NULL) return;
    Overhead recomputed = graph_overhead(p->g);
    bool nothing = recomputed.launches == 0 && recomputed.offloaded == 0;
    tile(p, "recomputed, model time", arena_print(p->arena, "+%.2f %%", 100 * recomputed.time),
         nothing ? "nothing: the budget is met without" : overhead_text(p->arena, &recomputed));
}

static void host_tile(const PageProgram *p)
{
    HostUse host = host_use(p->g);
    if (host.events == 0) return;
    tile(p, "host memory", bytes_text(p->arena, host.bytes),
         arena_print(p->arena, "%d maps, %s, go there and come back; in the model copies take "
                     "%s, and launches wait %s for them",
                     (int)host.values, bytes_text(p->arena, host.moved),
                     time_text(p->arena, host.copying), time_text(p->arena, host.waiting)));
}

static void tiles(const PageProgram *p)
{
    const Plan *plan = p->plan;
    int64_t gap = plan->arena_bytes - plan->max_live_bytes;
    int views = 0;
    for (int k = 0; k < plan->buffer_count; k++) views += plan->buffers[k].view;
    fputs("<dl class=\"tiles\">\n", p->out);
    tile(p, "arena", bytes_text(p->arena, plan->arena_bytes), bytes_note(p, plan->arena_bytes));
    tile(p, "bound", bytes_text(p->arena, plan->max_live_bytes),
         gap == 0 ? "no plan of these buffers, with these launches in this order, is smaller"
                  : arena_print(p->arena, "of any plan of these buffers, with these launches in "
                                          "this order; the arena is %s bytes above it",
                                grouped_text(p->arena, gap)));
    tile(p, "state", bytes_text(p->arena, plan->state_bytes),
         arena_print(p->arena, "%.1f%% of the arena",
                     100 * (double)plan->state_bytes / (double)plan->arena_bytes));
    WeightCount count = count_weights(p->g);
    tile(p, "parameters", grouped_text(p->arena, count.parameters),
         count.statistics == 0 ? "that training changes"
                               : arena_print(p->arena, "beside %s running statistics",
                                             grouped_text(p->arena, count.statistics)));
    if (is_pruning(p->g)) {
        Pruned pruned = count_pruned(p->g);
        tile(p, "zeros", grouped_text(p->arena, pruned.zeros),
             pruned_text(p->arena, p->g, " "));
    }
    tile(p, "steps", grouped_text(p->arena, plan->step_count), "launches, in this order");
    time_tile(p);
    recomputed_tile(p);
    host_tile(p);
    tile(p, "buffers", grouped_text(p->arena, p->drawn_count),
         views > 0 ? arena_print(p->arena, "and %d views, which take nothing", views) : "no views");
    fputs("</dl>\n", p->out);
}

// ---- the arena ----------------------------------------------------------------------------------

// Prints the kinds and phases that occur.
static void legend(const PageProgram *p)
{
    bool kinds[KIND_COUNT] = {false}, phases[PHASE_COUNT] = {false};
    for (int d = 0; d < p->drawn_count; d++) kinds[p->plan->buffers[p->drawn[d]].kind] = true;
    for (int i = 0; i < p->plan->step_count; i++) phases[p->plan->steps[i].phase] = true;
    fputs("<ul class=\"legend\">\n", p->out);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        if (kinds[kind])
            fprintf(p->out, "<li><i class=\"k-%s\"></i>%s</li>\n", kind_names[kind],
                    kind_names[kind]);
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        if (phases[phase])
            fprintf(p->out, "<li class=\"phase\"><i class=\"p-%s\"></i>%s</li>\n",
                    phase_names[phase], phase_names[phase]);
    fputs("</ul>\n", p->out);
}

static void program(PageProgram *p)
{
    fprintf(p->out, "<section id=\"%s\"><h2>%s: the arena over the steps</h2>\n",
            mode_names[p->plan->mode], titles[p->plan->mode]);
    if (p->plan->step_count == 0) {
        fputs("<p>There is no step: nothing runs.</p>\n</section>\n", p->out);
        return;
    }
    tiles(p);
    legend(p);
    page_map(p);
    fputs(
        "<p class=\"hint\">A rectangle is a buffer: as wide as the steps it lives, at its place in "
        "the arena. Buffers that alias it are drawn inside it. Point at one to see "
        "its name and live range",
        p->out);
    if (p->in->quoted) fputs("; follow it to its line of the program", p->out);
    fputs(". The strip below has the phase of each step.</p>\n</section>\n", p->out);
}

// ---- the page -----------------------------------------------------------------------------------

void print_page(const PageInput *in, FILE *out)
{
    PageProgram *first = NULL;
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        if (in->plan[mode] == NULL) continue;
        PageProgram *p = page_program(in, (Mode)mode, out);
        if (first == NULL) head(in, p, out);
        program(p);
        if (first != NULL) {
            page_counts(p);
            continue;
        }
        first = p;
        if (p->plan->step_count > 0) page_peak(p);
        page_counts(p);
        page_passes(p);
        page_curve(p);
        page_batches(p);
    }
    if (in->quoted) page_sources(first);
    fputs("</main>\n</body>\n</html>\n", out);
}
