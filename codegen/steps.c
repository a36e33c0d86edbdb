// Sections 2 and 3: the kernels that the steps launch, and the steps in order, each below its
// source line.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../ir/base/unique_names.h"
#include "../ir/families/pool.h"
#include "../ir/launch_group.h"
#include "emitter.h"
#include "work.h"

// ---- launches of the steps ------------------------------------------------------

// Returns the launch's constants as text, which is valid until the next call.
static const char *constants_text(Emitter *e, const Launch *l)
{
    enum { NUMBER = 25 };       // digits, sign, " = ", ", "
    size_t most = 1, length = 0;
    for (int i = 0; i < l->constant_count; i++) most += strlen(l->constant[i].name) + NUMBER;
    char *text = e->constants =
        arena_grow(e->arena, e->constants, &e->constants_capacity, (int64_t)most, 1);
    text[0] = '\0';
    for (int i = 0; i < l->constant_count; i++)
        length += (size_t)snprintf(text + length, most - length, "%s%s = %" PRId64, i ? ", " : "",
                                   l->constant[i].name, l->constant[i].value);
    return text;
}

// Checks the grid against CUDA's limits; other properties are checked when a launch is made.
static void check_launch(const Launch *l, const Node *n)
{
    // Attributes of a graph that was read as text may leave a layer without elements.
    if (!l->library && !l->copy && l->grid < 1)
        error(l->g->diag, n->pos, "%s would be a launch of no blocks", n->name);
    if (!l->library && !l->copy && l->grid > INT32_MAX)
        error(l->g->diag, n->pos,
              "%s would be a launch of %" PRId64 " blocks; at most %d can be launched at once",
              n->name, l->grid, INT32_MAX);
}

// Each input or output takes up to two parameters of the interface's functions.
static void check_ports(const Graph *g)
{
    int inputs = 0, outputs = 0;
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        if ((value->kind == INPUT && ++inputs == MAX_PORTS + 1) ||
            (value->output_number > 0 && ++outputs == MAX_PORTS + 1))
            error(g->diag, value->pos, "a net has at most %d inputs and as many outputs",
                  MAX_PORTS);
    }
}

// Sets p->named for the values that the file names: arguments, and values that the interface, the
// trainer and other programs of the file read.  Evaluation may read scales that training does not.
static void mark_named(Emitter *e, Program *p)
{
    p->named = NEW_ARRAY(e->arena, p->g->value_count, bool);
    for (ValueId v = 0; v < p->g->value_count; v++) {
        const Value *value = &p->g->values[v];
        p->named[v] = value->kind == INPUT || is_weight(value->kind) ||
                      value->output || value->init.kind == INIT_COPY ||
                      (value->kind == STATE && v != p->g->header &&
                       (e->in->with_main || value->state_of == NONE));
    }
    for (int i = 0; i < p->plan->step_count; i++) {
        const Launch *l = &e->launches[p->first_step + i];
        mark_arguments(l, p->named);
    }
}

void make_launches(Emitter *e)
{
    e->launches = NEW_ARRAY(e->arena, e->step_count, Launch);
    e->nodes = NEW_ARRAY(e->arena, e->step_count, const Node *);
    int step = 0;
    for (int i = 0; i < e->program_count; i++) {
        const Graph *g = e->program[i].g;
        check_ports(g);
        for (NodeId id = 0; id < g->node_count; id = group_end(g, id)) {
            const Node *n = &g->nodes[id];
            if (!is_launch(n)) continue;
            Launch *l = &e->launches[step];
            group_launch(g, id, l);
            check_launch(l, n);
            e->uses_library |= l->library;
            e->nodes[step++] = n;
        }
        mark_named(e, &e->program[i]);
    }
    if (step != e->step_count)
        bug("%d launches for a plan of %d steps", step, e->step_count);
}

// ---- section 2 ---------------------------------------------------------------------

void emit_kernels(Emitter *e)
{
    write_section(&e->w, 2, "kernels");
    for (int i = 0; i < e->step_count; i++) {
        const Launch *l = &e->launches[i];
        if (!l->copy) print_chunk(e, l->kernel);
        print_types(e, l);
    }
    if (any_slice(e, 2)) print_chunk(e, "Strided");
    print_chunk(e, "init_parameter");
    for (ValueId v = 0; v < e->g->value_count; v++)
        if (e->g->values[v].init.kind == INIT_ORTHOGONAL) print_chunk(e, "orthogonalize");
}

// ---- section 3: shapes ---------------------------------------------------------------

// True for the constants of UsualShape (runtime/support/net/shape.cuh).
static bool is_usual(const char *name, int64_t value)
{
    static const struct { const char *name; int64_t value; } usual[] = {
        {"H", 1}, {"W", 1}, {"P", 1}, {"Q", 1}, {"R", 1}, {"S", 1}, {"STRIDE_H", 1},
        {"STRIDE_W", 1}, {"DILATION_H", 1}, {"DILATION_W", 1}, {"PAD_TOP", 0}, {"PAD_LEFT", 0},
        {"GROUPS", 1},
    };
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (!strcmp(usual[i].name, name)) return usual[i].value == value;
    return false;
}

// Prints UsualShape if the shape of the launch or of an operand inherits it.
static void need_usual_shape(Emitter *e, const Launch *l)
{
    for (int i = 0; i < l->constant_count; i++)
        if (is_usual(l->constant[i].name, l->constant[i].value)) print_chunk(e, "UsualShape");
    for (int i = 0; i < l->type_count; i++)
        if (l->type[i].source) need_usual_shape(e, l->type[i].source);
}

static void print_shape(Emitter *e, const char *name, const Launch *l)
{
    const char *items[MAX_CONSTANTS];
    int count = 0, length = 0;
    for (int i = 0; i < l->constant_count; i++) {
        if (is_usual(l->constant[i].name, l->constant[i].value)) continue;
        items[count] = arena_print(e->arena, "%s = %" PRId64, l->constant[i].name,
                                   l->constant[i].value);
        length += (int)strlen(items[count++]) + 2;
    }
    const char *base = count < l->constant_count ? " : UsualShape" : "";
    const char *head = arena_print(e->arena, "struct %s%s {", name, base);
    const char *constants = arena_print(e->arena, "%s static constexpr long long", head);
    if (count == 0) {
        write_line(&e->w, "%s};", head);
    } else if ((int)strlen(constants) + length + 3 <= e->w.width) {
        write_list(&e->w, arena_print(e->arena, "%s ", constants), items, count, "; };");
    } else {
        write_line(&e->w, "%s", constants);
        write_list(&e->w, "    ", items, count, "; };");
    }
}

// Names the struct of a launch's constants after the first layer that needs it, and prints it.  All
// launches with the same constants share it.
static void name_shape(Emitter *e, const Launch *l, const Node *n)
{
    const char *text = constants_text(e, l);
    if (names_find(e->shape_texts, text, strlen(text)) != NONE) return;
    const char *name = arena_print(e->arena, "%s_shape", word_of(e, n->name));
    names_take(e->shape_texts, text, e->shape_count);
    name = names_take(e->taken, name, e->shape_count);
    e->shapes = arena_grow(e->arena, e->shapes, &e->shape_capacity,
                           (int64_t)e->shape_count + 1, sizeof *e->shapes);
    e->shapes[e->shape_count++] = name;
    print_shape(e, name, l);
}

// Names the shapes of a launch and of its operands that are computed on load.
static void name_shapes(Emitter *e, const Launch *l, const Node *n)
{
    if (l->constant_count > 0) name_shape(e, l, n);
    for (int i = 0; i < l->type_count; i++)
        if (l->type[i].source)
            name_shapes(e, l->type[i].source, l->type[i].source->node);
}

const char *shape_name(Emitter *e, const Launch *l)
{
    if (l->constant_count == 0) return NULL;
    const char *text = constants_text(e, l);
    return e->shapes[names_find(e->shape_texts, text, strlen(text))];
}

void emit_shapes(Emitter *e, const int *steps, int count)
{
    e->shape_texts = names_new(e->arena, 0);
    for (int i = 0; i < count; i++) need_usual_shape(e, &e->launches[steps[i]]);
    write_line(&e->w, "// The shapes of layers; layers that are alike share one.");
    for (int i = 0; i < count; i++)
        name_shapes(e, &e->launches[steps[i]], e->launches[steps[i]].node);
    write_blank(&e->w);
    e->source_texts = names_new(e->arena, 0);
    for (int i = 0; i < count; i++) name_sources(e, &e->launches[steps[i]]);
    if (e->source_count > 0) write_blank(&e->w);
}

// ---- section 3: a step -----------------------------------------------------------------

// A step that --trace times: `TRY(mark_launch(c, 4));` before and after it.
static void emit_mark(Emitter *e, const Program *p, int step)
{
    if (e->in->with_trace && p->g->mode == TRAIN)
        write_line(&e->w, "TRY(mark_launch(c, %d));", step);
}

static void emit_step(Emitter *e, const Program *p, int step)
{
    const Launch *l = &e->launches[step];
    const char *items[MAX_ITEMS];
    int count = 0;
    items[count++] = arena_print(e->arena, "%d", step);
    if (l->library || l->copy) {
        // The macro turns this name into a string, so it has no parentheses.
        items[count++] = l->kernel;
    } else {
        count += kernel_items(e, "STEP(", l, &items[count]);
        items[count++] = arena_print(e->arena, "%" PRId64, l->grid);
        items[count++] = arena_print(e->arena, "%d", l->block);
    }
    count += argument_items(e, p, l, &items[count]);
    write_list(&e->w, l->library ? "PRODUCT(" : l->copy ? "COPY(" : "STEP(", items, count, ");");
}

// ---- section 3: a program ------------------------------------------------------------------

// Prints "//   8 | conv1 = x -> conv(6, 5) -> relu" if the line or phase changes.
static void cite(Emitter *e, const Program *p, const Node *n, const Node *before)
{
    bool same_line = before && before->pos.line == n->pos.line &&
                     before->pos.file == n->pos.file;
    if (same_line && before->phase == n->phase) return;
    const Diag *diag = p->g->diag;
    if (!before || before->phase != n->phase) write_blank(&e->w);
    if (n->pos.line < 1 || n->pos.file < 0 || n->pos.file >= diag->source_count) {
        write_line(&e->w, "// %s", phase_names[n->phase]);
        return;
    }
    int32_t length;
    const Source *source = &diag->sources[n->pos.file];
    const char *text = source_line(source, n->pos.line, &length);
    while (length > 0 && strchr(" \t", *text)) text++, length--;
    int width = e->w.width - 26;
    length = comment_length(text, length, width);
    write_line(&e->w, "//%4d | %-*.*s  %s", (int)n->pos.line, width - 12,
               (int)length, text, phase_names[n->phase]);
}

// True for losses and metrics, which evaluation computes and inference does not.
static bool is_scored(const Program *p, const Node *n)
{
    return p->g->mode == EVAL && n->result_count > 0 &&
           p->g->values[n->results[0]].kind == SCALAR;
}

bool launch_takes(const Launch *l, LaunchArgKind kind)
{
    for (int i = 0; i < l->arg_count; i++)
        if (l->arg[i].kind == kind ||
            (l->arg[i].kind == LAUNCH_SOURCE && launch_takes(l->arg[i].source, kind)) ||
            (l->arg[i].kind == LAUNCH_TENSOR_LIST && launch_takes(l->arg[i].items->item[0], kind)))
            return true;
    return false;
}

// Consecutive steps of a program, first to end - 1: a function with the parameters that they use.
typedef struct Run {
    const char *name, *what;
    int         first, end;
    bool        of_samples, scored;
} Run;

static bool uses(const Emitter *e, const Program *p, const Run *run, LaunchArgKind kind)
{
    for (int i = run->first; i < run->end; i++)
        if (launch_takes(&e->launches[p->first_step + i], kind)) return true;
    return false;
}

static bool scores(const Emitter *e, const Program *p, const Run *run)
{
    for (int i = run->first; i < run->end; i++)
        if (is_scored(p, e->nodes[p->first_step + i])) return true;
    return false;
}

static void open_run(Emitter *e, const Run *run)
{
    Writer *w = &e->w;
    write_line(w, "// %s", run->what);
    write_line(w, "static int %s_%s(%s_context *c%s%s)", e->net, run->name, e->net,
               run->of_samples ? ", long long samples" : "", run->scored ? ", bool scored" : "");
    write_line(w, "{");
    w->indent = 4;
}

static void close_run(Emitter *e)
{
    Writer *w = &e->w;
    w->indent = 4;
    write_line(w, "return %s_OK;", e->upper);
    w->indent = 0;
    write_line(w, "}");
    write_blank(w);
}

static void declare_locals(Emitter *e, const Program *p, const Run *run)
{
    Writer *w = &e->w;
    write_line(w, "using namespace state;");
    write_line(w, "using namespace %s;", p->space);
    write_line(w, "const Arena a = {c->arena};");
    write_line(w, "const cudaStream_t stream = c->stream;");
    if (uses(e, p, run, LAUNCH_HEADER))
        write_line(w, "StateHeader *const header = (StateHeader *)c->arena;");
}

static void emit_run(Emitter *e, const Program *p, const Run *run)
{
    Writer *w = &e->w;
    open_run(e, run);
    declare_locals(e, p, run);
    const Node *before = NULL;
    bool scored = false;
    for (int i = run->first; i < run->end; i++) {
        const Node *n = e->nodes[p->first_step + i];
        if (scored != is_scored(p, n)) {
            if (scored) w->indent = 4, write_line(w, "}");
            scored = !scored;
            if (scored) {
                write_blank(w);
                write_line(w, "if (scored) {");
                w->indent = 8;
                w->blank_lines = 1;
            }
        }
        const Node *maker = pooled_maker(p->g, n);
        if (maker != NULL) cite(e, p, maker, before);
        cite(e, p, n, maker != NULL ? maker : before);
        emit_mark(e, p, p->first_step + i);
        emit_step(e, p, p->first_step + i);
        emit_mark(e, p, p->first_step + i);
        before = n;
    }
    w->indent = 4;
    if (scored) write_line(w, "}");
    close_run(e);
}

// Compile time grows faster than linearly with a function's length, so long functions are split,
// and one function calls the parts.  The compiler g++ -O2 takes two minutes for resnet1202's 9,000
// steps that way; as one function they did not compile within 25 minutes.
enum { MOST_STEPS = 512 };

static void emit_runs(Emitter *e, const Program *p, const Run *whole)
{
    int steps = whole->end - whole->first;
    int parts = (steps + MOST_STEPS - 1) / MOST_STEPS;
    if (parts <= 1) {
        emit_run(e, p, whole);
        return;
    }
    const char **calls = NEW_ARRAY(e->arena, parts, const char *);
    for (int k = 0; k < parts; k++) {
        Run part = {arena_print(e->arena, "%s_%d", whole->name, k + 1), NULL,
                    whole->first + (int)((int64_t)steps * k / parts),
                    whole->first + (int)((int64_t)steps * (k + 1) / parts), false, false};
        part.what = arena_print(e->arena, "Part %d of %d of %s_%s, below.", k + 1, parts, e->net,
                                whole->name);
        part.of_samples = uses(e, p, &part, LAUNCH_SAMPLES);
        part.scored = scores(e, p, &part);
        emit_run(e, p, &part);
        calls[k] = arena_print(e->arena, "%s_%s(c%s%s)", e->net, part.name,
                               part.of_samples ? ", samples" : "", part.scored ? ", scored" : "");
    }
    open_run(e, whole);
    write_calls(e, calls, parts, "");
    close_run(e);
}

static void emit_program_steps(Emitter *e, const Program *p)
{
    static const char *const what[MODE_COUNT] = {
        [TRAIN] = "One training step, on the first samples of the batch.",
        [EVAL] = "Inference; when scored, with loss and metrics of the first samples.",
        [INFER] = "Inference."};
    Run run = {arena_print(e->arena, "%s_steps", p->space), what[p->g->mode], 0,
               p->plan->step_count, p->g->mode != INFER, p->g->mode == EVAL};
    int batch_steps = p->plan->batch_steps;
    if (batch_steps > 0) {
        run.what = "Adds gradients of the first samples of a batch to those of the training step.";
        run.end = batch_steps;
    }
    emit_runs(e, p, &run);
    if (batch_steps == 0) return;
    const char *update = "The end of the training step: the update, by the mean over its samples.";
    run = (Run){"apply_steps", update, batch_steps, p->plan->step_count, false, false};
    emit_runs(e, p, &run);
}

// Prints the source line of every step, for messages.
static void emit_step_lines(Emitter *e)
{
    const char **items = NEW_ARRAY(e->arena, e->step_count, const char *);
    for (int i = 0; i < e->step_count; i++)
        items[i] = arena_print(e->arena, "%d", (int)e->nodes[i]->pos.line);
    write_line(&e->w, "// The line of the program that each step came from.");
    write_list(&e->w, "static const int step_line[] = {", items, e->step_count,
               "};");
    write_blank(&e->w);
}

void emit_steps(Emitter *e)
{
    write_section(&e->w, 3, "steps");
    emit_step_lines(e);
    print_chunk(e, "STEP");
    if (e->in->with_trace) print_chunk(e, "mark_launch");
    if (e->uses_library) print_chunk(e, "PRODUCT");
    if (e->host.events > 0) print_chunk(e, "COPY");
    for (int i = 0; i < e->step_count; i++)
        if (e->launches[i].copy) print_chunk(e, e->launches[i].kernel);
    int *steps = NEW_ARRAY(e->arena, e->step_count, int);
    for (int i = 0; i < e->step_count; i++) steps[i] = i;
    emit_shapes(e, steps, e->step_count);
    for (int i = 0; i < e->program_count; i++)
        emit_program_steps(e, &e->program[i]);
}
