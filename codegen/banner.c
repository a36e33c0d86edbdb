// Prints the banner: how the file was made and how to build it, its cost, and
// the full text of its program.

#include <inttypes.h>
#include <string.h>

#include "../ir/base/format.h"
#include "../ir/base/version.h"
#include "../ir/gpu/overhead.h"
#include "emitter.h"

static int64_t plan_flops(const Plan *plan)
{
    int64_t sum = 0;
    for (int i = 0; i < plan->step_count; i++) sum = capped_sum(sum, plan->steps[i].flops);
    return sum;
}

// Returns the bytes of the arena if no two tensors shared a byte.
static int64_t unshared_bytes(const Plan *plan)
{
    int64_t sum = 0;
    for (int i = 0; i < plan->buffer_count; i++)
        if (!plan->buffers[i].view)
            sum += padded(plan->buffers[i].bytes);
    return sum;
}

static void parameters(Emitter *e)
{
    WeightCount count = count_weights(e->g);
    write_line(&e->w, "//   parameters  %s", weights_text(e->arena, &count));
}

static void pruning(Emitter *e)
{
    if (!is_pruning(e->g)) return;
    write_line(&e->w, "//   pruning     %s", pruned_text(e->arena, e->g, "\n//               "));
}

// Returns the number of steps that are copies to or from host memory, not
// launches.
static int copy_steps(const Emitter *e, const Program *p)
{
    int count = 0;
    for (int i = 0; i < p->plan->step_count; i++) count += e->launches[p->first_step + i].copy;
    return count;
}

static void programs(Emitter *e)
{
    static const char *const titles[MODE_COUNT] = {"training", "evaluation",
                                                   "inference"};
    for (int i = 0; i < e->program_count; i++) {
        const Program *p = &e->program[i];
        write_line(&e->w,
                   "//   %-11s %d launches, %s; arena %s bytes (%s without sharing)",
                   titles[p->g->mode], p->plan->step_count - copy_steps(e, p),
                   flops_text(e->arena, plan_flops(p->plan)),
                   grouped_text(e->arena, p->plan->arena_bytes),
                   grouped_text(e->arena, unshared_bytes(p->plan)));
    }
}

const char *in_comment(Emitter *e, const char *text)
{
    int length = (int)strlen(text);
    char *copy = arena_copy(e->arena, text, (size_t)comment_length(text, length, length));
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < ' ') *c = '?';
    return copy;
}

// Prints the number of offloaded maps, their host memory and the waiting time.
static void write_host(Emitter *e, const Overhead *o)
{
    write_line(&e->w,
               "//               %d map%s in %s bytes of host memory from forward to backward,",
               (int)o->offloaded, o->offloaded == 1 ? "" : "s",
               grouped_text(e->arena, o->host_bytes));
    write_line(&e->w, "//               which steps wait for: time +%.2f %%, in that below;",
               100 * o->waiting);
}

// Prints the requested budget and the cost of meeting it.
static void budget(Emitter *e)
{
    const Graph *g = e->in->train;
    if (g == NULL || g->decisions.fit == NULL) return;
    Overhead recomputed = graph_overhead(g);
    const char *bytes = grouped_text(e->arena, g->decisions.fit->budget);
    if (recomputed.launches == 0 && g->decisions.split_samples == 0 && recomputed.offloaded == 0) {
        write_line(&e->w, "//   budget      %s bytes: training fits with nothing recomputed",
                   bytes);
        return;
    }
    write_line(&e->w, "//   budget      %s bytes, where training without recomputation takes %s:",
               bytes, grouped_text(e->arena, g->decisions.fit->plain));
    if (recomputed.offloaded > 0) write_host(e, &recomputed);
    recomputed.offloaded = 0;
    write_line(&e->w, "//               %s,", overhead_text(e->arena, &recomputed));
    if (g->decisions.split_samples > 0)
        write_line(&e->w, "//               %s,", slices_text(g));
    write_line(&e->w, "//               in a model of %s; the steps headed `recompute` below",
               in_comment(e, graph_gpu(g)->name));
}

static void quote(Emitter *e, const Source *source, int number)
{
    Writer *w = &e->w;
    write_line(w, "//");
    const char *slash = strrchr(source->name, '/');
    write_line(w, "// %s %s:", number ? "Included," : "The program,",
               in_comment(e, slash ? slash + 1 : source->name));
    write_line(w, "//");
    for (int32_t line = 1; line <= source->line_count; line++) {
        int32_t length;
        const char *text = source_line(source, line, &length);
        length = comment_length(text, length, length);
        if (length) write_line(w, "//  %4d | %.*s", line, (int)length, text);
        else if (line < source->line_count) write_line(w, "//  %4d |", line);
    }
}

void quote_program(Emitter *e)
{
    const Diag *diag = e->g->diag;
    for (int i = 0; i < diag->source_count; i++) quote(e, &diag->sources[i], i);
}

void emit_banner(Emitter *e)
{
    Writer *w = &e->w;
    const char *cublas = e->uses_library ? " -lcublas" : "";
    write_line(w, "// %s.cu - %s `%s`, written by cnnc " CNNC_VERSION ".", e->net,
               e->in->train ? "a trainer of" : "inference with", e->g->name);
    write_line(w, "//");
    write_line(w, "//   made by     %s", in_comment(e, e->in->command_line));
    write_line(w, "//   build       nvcc -O3 -arch=native -fmad=false %s%s.cu%s",
               e->in->with_main ? "" : "-c ", e->net,
               e->in->with_main ? cublas : "");
    parameters(e);
    pruning(e);
    programs(e);
    budget(e);
    quote_program(e);
    write_line(w, "//");
    write_line(w, "// Contents:  1 memory   2 kernels   3 steps   4 interface%s",
               e->in->with_main ? "   5 program" : "");
    write_line(w, "//");
    write_line(w, "// A step is one launch or one cuBLAS product; its number is its place in the plan.");
    if (e->host.events > 0)
        write_line(w, "// So is a COPY: it begins a copy to or from host memory, or waits for one.");
    write_blank(w);
}
