// Sections 2 and 3: the kernels that the steps launch, and the steps in order,
// each under the source line it came from.

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../ir/names.h"
#include "emitter.h"

// ---- what each step launches ---------------------------------------------------

static const char *constants_text(Emitter *e, const Launch *l)
{
    const char *text = "";
    for (int i = 0; i < l->constant_count; i++)
        text = arena_print(e->arena, "%s%s%s = %" PRId64, text, i ? ", " : "",
                           l->constant[i].name, l->constant[i].value);
    return text;
}

// CUDA's limit; the rest of a launch is checked as it is made.
static void check_launch(const Launch *l, const Node *n)
{
    if (!l->library && l->grid > INT32_MAX)
        error(l->g->diag, n->pos,
              "%s would be a launch of %" PRId64 " blocks; at most %d can be launched at once",
              n->name, l->grid, INT32_MAX);
}

// The interface's functions have a parameter or two for each.
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

// Which values the file will name: arguments, and what the interface and the
// trainer read.
static void mark_named(Emitter *e, Program *p)
{
    p->named = NEW_ARRAY(e->arena, p->g->value_count, bool);
    for (ValueId v = 0; v < p->g->value_count; v++) {
        const Value *value = &p->g->values[v];
        p->named[v] = value->kind == INPUT || is_weight(value->kind) ||
                      value->output || value->init.kind == INIT_COPY ||
                      (e->in->with_main && value->kind == STATE && v != p->g->header);
    }
    for (int i = 0; i < p->plan->step_count; i++) {
        const Launch *l = &e->launches[p->first_step + i];
        for (int j = 0; j < l->arg_count; j++)
            if (l->arg[j].kind == LAUNCH_VALUE && l->arg[j].value != NONE)
                p->named[l->arg[j].value] = true;
    }
}

void make_launches(Emitter *e)
{
    e->launches = NEW_ARRAY(e->arena, e->step_count, Launch);
    e->nodes = NEW_ARRAY(e->arena, e->step_count, const Node *);
    e->shapes = NEW_ARRAY(e->arena, e->step_count, const char *);
    int step = 0;
    for (int i = 0; i < e->program_count; i++) {
        const Graph *g = e->program[i].g;
        check_ports(g);
        for (NodeId id = 0; id < g->node_count; id++) {
            const Node *n = &g->nodes[id];
            if (n->op->flags & VIEW) continue;
            Launch *l = &e->launches[step];
            l->g = (Graph *)g;
            n->op->parts[n->part].launch(g, n, l);
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

// The runtime's struct that a template argument names, if it names one: relu,
// BlockTile<64, 32, 4, 4>; not 64 or true.
static void print_type(Emitter *e, const char *text)
{
    int length = (int)strcspn(text, "<");
    const char *name = arena_print(e->arena, "%.*s", length, text);
    if (has_chunk(name)) print_chunk(e, name);
}

void emit_kernels(Emitter *e)
{
    write_section(&e->w, 2, "kernels");
    for (int i = 0; i < e->step_count; i++) {
        const Launch *l = &e->launches[i];
        print_chunk(e, l->kernel);
        for (int j = 0; j < l->type_count; j++) print_type(e, l->type[j]);
        for (int j = 0; j < l->arg_count; j++)
            if (l->arg[j].kind == LAUNCH_LIST) print_chunk(e, "List");
    }
    print_chunk(e, "init_parameter");
    for (ValueId v = 0; v < e->g->value_count; v++)
        if (e->g->values[v].init.kind == INIT_ORTHOGONAL) print_chunk(e, "orthogonalize");
}

// ---- section 3: shapes ---------------------------------------------------------------

static void print_shape(Emitter *e, const char *name, const Launch *l)
{
    const char *items[MAX_CONSTANTS];
    for (int i = 0; i < l->constant_count; i++)
        items[i] = arena_print(e->arena, "%s = %" PRId64, l->constant[i].name,
                               l->constant[i].value);
    const char *head = arena_print(e->arena, "struct %s { static constexpr long long ", name);
    write_list(&e->w, head, items, l->constant_count, "; };");
}

// The struct of a launch's constants: printed when it is new, named after the
// layer that needs it first, shared by all launches with the same constants.
// first has the step that each text of constants came from.
static const char *shape_struct(Emitter *e, Names *first, int step)
{
    const Launch *l = &e->launches[step];
    const char *text = constants_text(e, l);
    int32_t same = names_find(first, text, strlen(text));
    if (same != NONE) return e->shapes[same];
    names_take(first, text, step);
    const char *name = arena_print(e->arena, "%s_shape",
                                   word_of(e, e->nodes[step]->name));
    name = names_take(e->taken, name, step);
    print_shape(e, name, l);
    return name;
}

static void emit_shapes(Emitter *e)
{
    Names *first = names_new(e->arena);
    write_line(&e->w, "// The shapes of layers; layers that are alike share one.");
    for (int i = 0; i < e->step_count; i++)
        if (e->launches[i].constant_count)
            e->shapes[i] = shape_struct(e, first, i);
    write_blank(&e->w);
}

// ---- section 3: a step -----------------------------------------------------------------

// The shortest decimal that reads back as f, and as a floating literal.
static const char *real_text(Emitter *e, double f)
{
    bool is_double = e->g->real == F64;
    if (!isfinite(f) || (!is_double && fabs(f) > FLT_MAX))
        bug("a launch with the argument %g", f);
    const char *text = "";
    for (int digits = 1; digits <= 17; digits++) {
        text = arena_print(e->arena, "%.*g", digits, f);
        double back = strtod(text, NULL);
        if (is_double ? back == f : (float)back == (float)f) break;
    }
    if (!strpbrk(text, ".e")) text = arena_print(e->arena, "%s.0", text);
    return is_double ? text : arena_print(e->arena, "%sf", text);
}

// List<3>{{0.5f, 1.0f, 2.0f}}
static const char *list_text(Emitter *e, const List *list)
{
    const char *text = arena_print(e->arena, "List<%d>{{", list->count);
    for (int i = 0; i < list->count; i++)
        text = arena_print(e->arena, "%s%s%s", text, i ? ", " : "",
                           real_text(e, list->at[i]));
    return arena_print(e->arena, "%s}}", text);
}

static const char *argument(Emitter *e, const Program *p, const LaunchArg *arg)
{
    const char *text;
    switch (arg->kind) {
    case LAUNCH_VALUE:
        if (arg->value == NONE) return "nullptr";
        return arena_print(e->arena, "a[%s]", p->name[arg->value]);
    case LAUNCH_SAMPLES: return "samples";
    case LAUNCH_HEADER: return "header";
    case LAUNCH_REAL: text = real_text(e, arg->f); break;
    case LAUNCH_LIST: text = list_text(e, arg->list); break;
    default:
        text = arena_print(e->arena, "%" PRId64 "%s", arg->i,
                           llabs(arg->i) > INT32_MAX ? "ll" : "");
    }
    if (!arg->label) return text;
    return arena_print(e->arena, "/*%s*/ %s", arg->label, text);
}

// A launch's arguments as items of a list; the members of a struct are items,
// the first with its name and the last with its end.  Returns how many.
static int argument_items(Emitter *e, const Program *p, const Launch *l,
                          const char **items)
{
    const char *open = "";
    int count = 0, members = 0;
    for (int i = 0; i < l->arg_count; i++) {
        const LaunchArg *arg = &l->arg[i];
        if (arg->kind == LAUNCH_STRUCT) {
            members = (int)arg->i;
            open = arena_print(e->arena, "%s{", arg->label);
            if (members == 0) items[count++] = arena_print(e->arena, "%s}", open);
            continue;
        }
        const char *text = argument(e, p, arg);
        if (members > 0)
            text = arena_print(e->arena, "%s%s%s", open, text, --members ? "" : "}");
        open = "";
        items[count++] = text;
    }
    return count;
}

// kernel, or (kernel<conv1_shape, relu>), as items of a list: one, or, where
// that would pass the width, one a template argument.  Returns how many.
static int kernel_items(Emitter *e, int step, const char **items)
{
    const Launch *l = &e->launches[step];
    const char *text = "";
    int count = 0;
    if (e->shapes[step]) items[count++] = e->shapes[step];
    for (int i = 0; i < l->type_count; i++) items[count++] = l->type[i];
    if (!count) {
        items[0] = l->kernel;
        return 1;
    }
    items[0] = arena_print(e->arena, "(%s<%s", l->kernel, items[0]);
    items[count - 1] = arena_print(e->arena, "%s>)", items[count - 1]);
    for (int i = 0; i < count; i++)
        text = arena_print(e->arena, "%s%s%s", text, i ? ", " : "", items[i]);
    int margin = e->w.indent + (int)strlen("STEP(");
    if (margin + (int)strlen(text) + 1 > e->w.width) return count;
    items[0] = text;
    return 1;
}

static void emit_step(Emitter *e, const Program *p, int step)
{
    const Launch *l = &e->launches[step];
    const char *items[MAX_LAUNCH_ARGS + MAX_TEMPLATE + 5];
    int count = 0;
    items[count++] = arena_print(e->arena, "%d", step);
    if (l->library) {
        // The macro stringizes its name, so no parentheses here.
        items[count++] = l->kernel;
    } else {
        count += kernel_items(e, step, &items[count]);
        items[count++] = arena_print(e->arena, "%" PRId64, l->grid);
        items[count++] = arena_print(e->arena, "%d", l->block);
    }
    count += argument_items(e, p, l, &items[count]);
    write_list(&e->w, l->library ? "PRODUCT(" : "STEP(", items, count, ");");
}

// ---- section 3: a program ------------------------------------------------------------------

// "//   8 | conv1 = x -> conv(6, 5) -> relu", when the line or phase changes.
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

// Losses and metrics: what an evaluation has and an inference has not.
static bool is_scored(const Program *p, const Node *n)
{
    return p->g->mode == EVAL && n->result_count > 0 &&
           p->g->values[n->results[0]].kind == SCALAR;
}

static bool uses(const Emitter *e, const Program *p, LaunchArgKind kind)
{
    for (int i = 0; i < p->plan->step_count; i++) {
        const Launch *l = &e->launches[p->first_step + i];
        for (int j = 0; j < l->arg_count; j++)
            if (l->arg[j].kind == kind) return true;
    }
    return false;
}

static void open_program(Emitter *e, const Program *p)
{
    static const char *const what[MODE_COUNT] = {
        [TRAIN] = "One training step, on the first samples of the batch.",
        [EVAL] = "Inference; when scored, with loss and metrics of the first samples.",
        [INFER] = "Inference."};
    Writer *w = &e->w;
    write_line(w, "// %s", what[p->g->mode]);
    write_line(w, "static int %s_%s_steps(%s_context *c%s%s)", e->net, p->space,
               e->net, p->g->mode == INFER ? "" : ", long long samples",
               p->g->mode == EVAL ? ", bool scored" : "");
    write_line(w, "{");
    w->indent = 4;
    write_line(w, "using namespace state;");
    write_line(w, "using namespace %s;", p->space);
    write_line(w, "const Arena a = {c->arena};");
    write_line(w, "const cudaStream_t stream = c->stream;");
    if (uses(e, p, LAUNCH_HEADER))
        write_line(w, "Header *const header = (Header *)c->arena;");
}

static void emit_program_steps(Emitter *e, const Program *p)
{
    Writer *w = &e->w;
    open_program(e, p);
    const Node *before = NULL;
    bool scored = false;
    for (int i = 0; i < p->plan->step_count; i++) {
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
        cite(e, p, n, before);
        emit_step(e, p, p->first_step + i);
        before = n;
    }
    w->indent = 4;
    if (scored) write_line(w, "}");
    write_line(w, "return %s_OK;", e->upper);
    w->indent = 0;
    write_line(w, "}");
    write_blank(w);
}

// The source line of every step, for messages.
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
    if (e->uses_library) print_chunk(e, "PRODUCT");
    emit_shapes(e);
    for (int i = 0; i < e->program_count; i++)
        emit_program_steps(e, &e->program[i]);
}
