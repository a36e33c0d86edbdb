// Section 5, with --main: the trainer program and the description of this net that it reads.  The
// trainer itself belongs to the runtime (runtime/trainer).  This file prints tables of tensors and
// wrappers around one context.

#include <inttypes.h>
#include <string.h>

#include "../ir/families/grad_accumulation.h"
#include "../ir/families/loss.h"
#include "work.h"

// ---- tables of tensors -----------------------------------------------------------

// Returns the use of an input as InputUse of the trainer names it.  A loss of boxes reads boxes and
// the classes of their objects; a target that is no label belongs to logits.
static const char *input_use(const Graph *g, ValueId v)
{
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (!n->op || !makes_loss(g, n) || !is_operand(n, v)) continue;
        if (operand_named(n, "boxes") == v) return "USE_BOXES";
        if (g->values[v].classes)
            return operand_called(n, "boxes") != NONE ? "USE_KINDS" : "USE_OTHER";
        if (operand_called(n, "logits") != NONE && n->operands[1] == v &&
            g->values[v].shape.rank == 2)
            return "USE_TARGET";
    }
    return "USE_OTHER";
}

// Prints one row of a table.  Inputs and outputs have the batch of the trainer's training step.  A
// gradient sum has the name of its final gradient.
static void tensor_row(Emitter *e, const Program *p, ValueId v, bool batched)
{
    Value resized = p->g->values[v];
    const Value *value = &resized;
    if (batched) resized.shape.dim[0] = main_batch(p->g);
    if (is_sum(p->g, v))
        resized.name = arena_print(e->arena, "d.%s", p->g->values[value->gradient_of].name);
    bool infers = value->kind == INPUT &&
                  input_number(e->in->infer, value->name) != NONE;
    int64_t ignored = ignored_label(p->g, v);
    write_line(&e->w, "    {\"%s\", \"%s\", %d, {%s}, %s, %" PRId64 ", %" PRId64 ", %d, %s, %s},",
               value->name, dtype_names[value->dtype], value->shape.rank,
               dims_text(e, value->shape, ", "),
               input_text(e, p, v) ? "0" : arena_print(e->arena, "%s.offset", p->place[v]),
               value_bytes(value), value->classes, infers,
               ignored == NO_LABEL ? "NO_LABEL" :
                   arena_print(e->arena, "%" PRId64, ignored),
               value->kind == INPUT ? input_use(p->g, v) : "USE_OTHER");
}

static int table(Emitter *e, const Program *p, const char *name,
                 const ValueId *values, int count, bool batched)
{
    write_line(&e->w, "static const NetTensor %s[] = {", name);
    for (int i = 0; i < count; i++) tensor_row(e, p, values[i], batched);
    if (!count) write_line(&e->w, "    {0, 0, 0, {0}, 0, 0, 0, 0, NO_LABEL, USE_OTHER},");
    write_line(&e->w, "};");
    write_blank(&e->w);
    return count;
}

static bool is_input(const Graph *g, ValueId v)
{
    return g->values[v].kind == INPUT;
}

// Prints a table of the program's values that belong; returns their number.
static int table_of(Emitter *e, const Program *p, const char *name,
                    bool (*belongs)(const Graph *g, ValueId v))
{
    ValueId *values = NEW_ARRAY(e->arena, p->g->value_count, ValueId);
    int count = 0;
    for (ValueId v = 0; v < p->g->value_count; v++)
        if (belongs(p->g, v)) values[count++] = v;
    return table(e, p, name, values, count, belongs == is_input);
}

static bool is_param(const Graph *g, ValueId v)
{
    return is_weight(g->values[v].kind);
}

static bool is_optimizer_state(const Graph *g, ValueId v)
{
    return g->values[v].kind == STATE && v != g->header;
}

// Prints the table of values that inference reads, under the parameters' names.  It differs from
// the table of parameters only in offsets.
static void inferred_table(Emitter *e, const Program *p)
{
    Program read = *p;
    read.place = NEW_ARRAY(e->arena, p->g->value_count, const char *);
    memcpy(read.place, p->place, (size_t)p->g->value_count * sizeof *read.place);
    for (ValueId v = 0; v < p->g->value_count; v++)
        if (p->g->values[v].init.kind == INIT_COPY)
            read.place[p->g->values[v].state_of] = p->place[v];
    table_of(e, &read, "main_inferred", is_param);
}

// ---- the state's sections ----------------------------------------------------------

enum { SECTIONS = 7 };
static const char *const section_names[SECTIONS] = {
    "header", "parameters", "statistics", "metrics", "optimizer", "averages", "masks"};

static int section_of(const Graph *g, ValueId v)
{
    const Value *value = &g->values[v];
    if (v == g->header) return 0;
    if (value->kind != STATE) return value->kind == PARAM ? 1 : 2;
    if (value->state_of == NONE) return 3;
    if (is_pruned_bits(g, v)) return 6;
    return value->init.kind == INIT_COPY ? 5 : 4;
}

// Prints the table of sections.  Each ends where the next section begins.
static int sections_table(Emitter *e)
{
    const Graph *g = e->g;
    int64_t begin[SECTIONS + 1];
    int count = 0;
    for (int i = 0; i <= SECTIONS; i++) begin[i] = e->program[0].plan->state_bytes;
    for (ValueId v = 0; v < g->value_count; v++) {
        if (!is_persistent(g->values[v].kind)) continue;
        int i = section_of(g, v);
        if (g->values[v].offset < begin[i]) begin[i] = g->values[v].offset;
    }
    write_line(&e->w, "static const NetSection main_sections[] = {");
    for (int i = 0; i < SECTIONS; i++) {
        int64_t end = begin[SECTIONS];
        for (int k = 0; k < SECTIONS; k++)
            if (begin[k] > begin[i] && begin[k] < end) end = begin[k];
        if (begin[i] == begin[SECTIONS]) continue;
        write_line(&e->w, "    {\"%s\", %" PRId64 ", %" PRId64 "},", section_names[i], begin[i],
                   end - begin[i]);
        count++;
    }
    write_line(&e->w, "};");
    write_blank(&e->w);
    return count;
}

static bool is_kept(const Graph *g, ValueId v)
{
    return g->values[v].output && g->values[v].kind != SCALAR;
}

// ---- wrappers -----------------------------------------------------------------------

// Wrappers that do not depend on the net's inputs and outputs.
static const char *const fixed_wrappers[] = {
    "static int main_read(size_t offset, void *to, size_t bytes)",
    "{",
    "    return @_fetch(&main_context, to, offset, bytes) || @_wait(&main_context);",
    "}",
    "",
    "static int main_write(size_t offset, const void *from, size_t bytes)",
    "{",
    "    return @_stage(&main_context, offset, bytes, from, bytes) || @_wait(&main_context);",
    "}",
    "",
    "static int main_export(void *state, size_t bytes)",
    "{",
    "    return @_export(&main_context, state, bytes);",
    "}",
    "",
    "static int main_import(const void *state, size_t bytes)",
    "{",
    "    return @_import(&main_context, state, bytes);",
    "}",
    "",
    "static const char *main_describe(void)",
    "{",
    "    static char text[512];",
    "    const @_error *const error = @_last_error(&main_context);",
    "    snprintf(text, sizeof text, \"%s: %s: %s (step %d, line %d, wanted %zu, given %zu)\",",
    "             @_strerror(error->status), error->call ? error->call : \"\",",
    "             error->text ? error->text : \"\", error->step, error->line, error->wanted,",
    "             error->given);",
    "    return text;",
    "}",
    "", NULL};

static void emit_fixed(Emitter *e, const char *const *lines)
{
    for (; *lines; lines++) {
        for (const char *c = *lines; *c; c++)
            if (*c == '@') fputs(e->net, e->w.out);
            else fputc(*c, e->w.out);
        fputc('\n', e->w.out);
    }
    e->w.blank_lines = 1;
}

static void emit_init(Emitter *e)
{
    Writer *w = &e->w;
    const char *net = e->net;
    if (e->host.events > 0) print_chunk(e, "net_make_host");
    write_line(w, "static int main_init(void *arena, size_t bytes, unsigned long long seed)");
    write_line(w, "{");
    if (e->uses_library) {
        write_line(w, "    static cublasHandle_t cublas;");
        write_line(w, "    if (!cublas && %s_check_product(&main_context, cublasCreate(&cublas), -1,", net);
        write_line(w, "                            \"cublasCreate\"))");
        write_line(w, "        return main_context.error.status;");
    }
    if (e->in->train) {
        write_line(w, "    static cudaStream_t stream; // not the default one, which can't be captured");
        write_line(w, "    if (!stream && %s_check(&main_context, cudaStreamCreate(&stream), -1,", net);
        write_line(w, "                            \"cudaStreamCreate\"))");
        write_line(w, "        return main_context.error.status;");
    }
    if (e->host.events > 0) {
        write_line(w, "    static %s_host host;", net);
        write_line(w, "    if (const int status = %s_make_host(&main_context, &host)) return status;", net);
    }
    bool trained = e->in->weights != NULL, given = reads_callers_inputs(e);
    if (given) write_given_memory(e);
    write_line(w, "    %s%s_init(&main_context, arena, bytes, %s, %s%s, seed%s)%s;",
               trained ? "TRY(" : "return ", net, e->in->train ? "stream" : "0",
               e->uses_library ? "cublas" : "0", e->host.events > 0 ? ", &host" : "",
               given ? ", &in" : "", trained ? ")" : "");
    if (trained) write_line(w, "    return %s_init_trained(&main_context);", net);
    write_line(w, "}");
    write_blank(w);
}

// Prints main_figures.  The latest program stored the last batch's figures.
static void emit_figures(Emitter *e)
{
    Writer *w = &e->w;
    Figures f = figures_of(e);
    int metrics = f.count - f.losses;
    write_line(w, "static int main_figures(NetFigures *figures, int reset)");
    write_line(w, "{");
    write_line(w, "    real last[%d];", metrics + 1);
    write_line(w, "    %s_figures means;", e->net);
    write_line(w, "    if (main_read(main_figures_at, last, sizeof last) ||");
    write_line(w, "        %s_metrics(&main_context, &means, reset))", e->net);
    write_line(w, "        return main_context.error.status;");
    write_line(w, "    figures->step = means.step;");
    write_line(w, "    figures->updates = means.updates;");
    write_line(w, "    figures->skipped = means.step - means.updates;");
    write_line(w, "    figures->samples = means.samples;");
    write_line(w, "    figures->rate = means.learning_rate;");
    write_line(w, "    figures->loss_scale = %s;", is_scaled(e->g) ? "means.loss_scale" : "1");
    write_line(w, "    figures->loss = (double)last[0];");
    for (int i = 0; i < f.losses; i++)
        write_line(w, "    figures->losses[%d] = {means.%s, means.%s};", i, f.at[i].field,
                   f.at[i].weight);
    for (int i = 0; i < metrics; i++) {
        write_line(w, "    figures->metric[%d] = (double)last[%d];", i, i + 1);
        write_line(w, "    figures->metrics[%d] = {means.%s, means.%s};", i,
                   f.at[f.losses + i].field, f.at[f.losses + i].weight);
    }
    write_line(w, "    return %s_OK;", e->upper);
    write_line(w, "}");
    write_blank(w);
    write_line(w, "static int main_set_rate(double rate)");
    write_line(w, "{");
    write_line(w, "    return %s_set(&main_context, %s_RATE, rate);", e->net, e->upper);
    write_line(w, "}");
    write_blank(w);
}

// Prints the figures' names, losses before metrics: layer, operator and better direction of each.
static void emit_figure_names(Emitter *e, const Figures *f)
{
    const char *items[MAX_FIGURES] = {"{0, 0, 0}"};
    for (int i = 0; i < f->count; i++)
        items[i] = arena_print(e->arena, "{\"%s\", \"%s\", %s}", f->at[i].name, f->at[i].op,
                               f->at[i].rises ? "true" : "false");
    write_list(&e->w, "static const NetFigure main_figure_names[] = {", items,
               f->count ? f->count : 1, "};");
    write_blank(&e->w);
}

// Prints the table of a training step's launches, for --trace.
static void emit_launches(Emitter *e)
{
    const Plan *plan = e->program[0].plan;
    const int64_t *live = plan_live(e->arena, plan);
    write_line(&e->w, "static const NetLaunch main_launches[] = {");
    for (int i = 0; i < plan->step_count; i++) {
        const PlanStep *step = &plan->steps[i];
        write_line(&e->w, "    {\"%s\", \"%s\", %d, %" PRId64 ", %" PRId64 ", %" PRId64 "},",
                   step->name, phase_names[step->phase], (int)step->line, step->moved, step->flops,
                   live[i]);
    }
    write_line(&e->w, "};");
    write_blank(&e->w);
}

static void emit_descriptor(Emitter *e)
{
    Writer *w = &e->w;
    const Program *first = &e->program[0], *last = &e->program[e->program_count - 1];
    bool trains = e->in->train != NULL;
    int inputs = table_of(e, last, "main_inputs", is_input);
    ValueId named[MAX_PORTS];
    int outputs = table(e, last, "main_outputs", named,
                        graph_outputs(last->g, named, MAX_PORTS), true);
    int params = table_of(e, first, "main_params", is_param);
    int state = table_of(e, first, "main_state", is_optimizer_state);
    int kept = table_of(e, first, "main_kept", is_kept);
    Figures f = figures_of(e);
    emit_figure_names(e, &f);
    int sections = sections_table(e);
    if (e->in->with_trace) emit_launches(e);
    bool averages = trains && e->g->training.average != 0;
    if (averages) inferred_table(e, first);
    const char *batch = arena_print(e->arena, e->g->training.accumulate > 1
                                    ? "%s_BATCH * %d" : "%s_BATCH",
                                    e->upper, (int)e->g->training.accumulate);
    write_line(w, "static const Net main_net = {");
    write_line(w, "    \"%s\", %s, %" PRId64 ", %s_ARENA_BYTES, %s_ARENA_ALIGN, %s_STATE_BYTES,",
               e->net, batch, e->g->training.epochs, e->upper, e->upper, e->upper);
    write_line(w, "    main_inputs, %d, main_outputs, %d, main_params, %d, main_state, %d, main_kept, %d,",
               inputs, outputs, params, state, kept);
    write_line(w, "    main_figure_names, %d, main_figure_names + %d, %d, main_init, %s, %s, %s,",
               f.losses, f.losses, f.count - f.losses,
               trains ? "main_train" : "0", trains ? "main_prepare" : "0",
               trains ? "main_replay" : "0");
    write_line(w, "    %s, main_infer, %s, %s, main_read,", trains ? "main_evaluate" : "0",
               trains ? "main_figures" : "0", trains ? "main_set_rate" : "0");
    write_line(w, "    main_write, main_export, main_import, main_describe, &main_context.stream,");
    write_line(w, "    %s, %s_STATE_HASH, main_sections, %d,",
               averages ? "main_inferred" : "0", e->upper, sections);
    fputs("    \"", w->out);
    graph_print_training(e->g, w->out);
    fputs("\",\n", w->out);
    write_line(w, "    %s,", e->in->weights ? "true" : "false");
    write_line(w, "    \"%s\", %s,", is_pruning(e->g) ? pruned_text(e->arena, e->g, " ") : "",
               e->in->with_trace ? "main_launches, &launch_marks" : "0, 0");
    write_line(w, "    %" PRId64 ",", e->host.bytes);
    write_line(w, "};");
    write_blank(w);
}

void emit_program(Emitter *e)
{
    Writer *w = &e->w;
    write_section(w, 5, "program");
    print_chunk(e, "trainer_main");
    write_line(w, "static %s_context main_context;", e->net);
    if (e->in->train)
        write_line(w, "static size_t main_figures_at; // the figures of the program that ran last");
    write_blank(w);
    emit_main_inputs(e);
    emit_init(e);
    emit_wrappers(e);
    emit_fixed(e, fixed_wrappers);
    if (e->in->train) emit_figures(e);
    emit_descriptor(e);
    write_line(w, "int main(int argc, char **argv)");
    write_line(w, "{");
    write_line(w, "    return trainer_main(&main_net, argc, argv);");
    write_line(w, "}");
}
