// Prints the content of the C header: sizes, hashes, the offset of every parameter, types and
// prototypes.  An emitted file includes the header or contains its text.

#include <inttypes.h>
#include <string.h>

#include "../ir/families/loss.h"
#include "../ir/base/unique_names.h"
#include "work.h"

const char *const declared_chunks[] = {"net_status", "net_setting", "net_error",
                                       "CUstream_st", "cublasContext", "net_context",
                                       "net_tensor", NULL};

// Raised when a caller of an emitted file must be changed or compiled again: a struct, a signature
// or a constant differs.  The test interface.abi compares headers with those of this number.
enum { INTERFACE_ABI = 1 };

static void define(Emitter *e, const char *name, const char *value)
{
    write_line(&e->w, "#define %s_%s %s", e->upper, name, value);
}

static void define_bytes(Emitter *e, const char *name, int64_t value)
{
    define(e, name, arena_print(e->arena, "%" PRId64, value));
}

static void emit_macros(Emitter *e)
{
    const EmitInput *in = e->in;
    const Plan *plan = e->program[0].plan;
    Arena *arena = e->arena;
    int64_t bytes = plan->arena_bytes;
    WeightCount count = count_weights(e->g);
    if (in->train && in->eval_plan->arena_bytes > bytes)
        bytes = in->eval_plan->arena_bytes;
    write_line(&e->w, "// Changes with the interface: structs, signatures and constants that every caller sees.");
    define_bytes(e, "INTERFACE_ABI", INTERFACE_ABI);
    write_line(&e->w, "// The arena of init; that of inference alone; the state at its start, and its beginning that");
    write_line(&e->w, "// inference reads: header, parameters, and running statistics from STATISTICS_OFFSET on.");
    define_bytes(e, "ARENA_BYTES", bytes);
    define_bytes(e, "INFER_ARENA_BYTES", in->infer_plan->arena_bytes);
    define_bytes(e, "STATE_BYTES", plan->state_bytes);
    define_bytes(e, "PARAMS_BYTES", params_bytes(e->g));
    define_bytes(e, "STATISTICS_OFFSET", statistics_offset(e->g));
    define_bytes(e, "ARENA_ALIGN", ALIGNMENT);
    declare_host_sizes(e);
    define_bytes(e, "BATCH", call_batch(e->g));
    write_line(&e->w, "// Numbers that gradients change, and tensors of them; likewise of running statistics.");
    define_bytes(e, "PARAMETERS", count.parameters);
    define_bytes(e, "PARAM_COUNT", count.parameter_tensors);
    define_bytes(e, "STATISTICS", count.statistics);
    define_bytes(e, "STATISTIC_COUNT", count.statistic_tensors);
    define_bytes(e, "USES_CUBLAS", e->uses_library);
    define_bytes(e, "TRAINS", in->train != NULL);
    define(e, "STATE_HASH", arena_print(arena, "0x%016" PRIx64 "u", state_hash(e->g)));
    define(e, "PARAMS_HASH", arena_print(arena, "0x%016" PRIx64 "u", params_hash(e->g)));
    if (has_half_weights(e->g)) {
        write_line(&e->w, "// A file that trains has these; import takes and rounds its state.");
        define_bytes(e, "F32_PARAMS_BYTES", f32_params_bytes(e->g));
        define(e, "F32_PARAMS_HASH",
               arena_print(arena, "0x%016" PRIx64 "u", f32_params_hash(e->g)));
    }
    define(e, "PLAN_HASH", arena_print(arena, "0x%016" PRIx64 "u", plan_hash(plan)));
    define(e, "LEARNING_RATE",
           in->train ? arena_print(arena, "%.17g", e->g->training.optimizer_attr[0].f) : "0.0");
    if (is_scaled(e->g))
        define(e, "LOSS_SCALE", arena_print(arena, "%.17g%s", e->g->training.loss_scale,
                                            e->g->training.loss_scale < 1 ? "" : ".0"));
    write_blank(&e->w);
}

// Prints the macros of each weight.  They begin with its name in capitals; names that differ only
// by case get a number.
static void emit_tensor_macros(Emitter *e)
{
    Names *stems = names_new(e->arena, 0);
    write_line(&e->w, "// The place of each parameter and running statistic in the state, in bytes.");
    for (ValueId v = 0; v < e->g->value_count; v++) {
        const Value *value = &e->g->values[v];
        if (!is_weight(value->kind)) continue;
        const char *name =
            names_take(stems, upper_case(e->arena, e->program[0].name[v]), v);
        define_bytes(e, arena_print(e->arena, "%s_OFFSET", name), value->offset);
        define_bytes(e, arena_print(e->arena, "%s_BYTES", name), value_bytes(value));
        define(e, arena_print(e->arena, "%s_DTYPE", name),
               arena_print(e->arena, "\"%s\"", dtype_names[value->dtype]));
    }
    write_blank(&e->w);
}

// Takes each word of a text whose words all end with a space.
static void take_words(Names *names, Arena *arena, const char *text)
{
    for (const char *end = strchr(text, ' '); end; end = strchr(text, ' ')) {
        names_take(names, arena_copy(arena, text, (size_t)(end - text)), 0);
        text = end + 1;
    }
}

Figures figures_of(Emitter *e)
{
    Names *fields = names_new(e->arena, 0);
    const Node *metrics = find_metric_sums(e->g);
    Figures f = {.count = 0};
    if (!metrics) return f;
    f.losses = (int)metrics->attr[0].i;
    take_words(fields, e->arena, "step updates samples learning_rate loss loss_scale ");
    for (int k = 1; k < metrics->operand_count; k++) {
        const Node *n = &e->g->nodes[e->g->values[metrics->operands[k]].def];
        Figure *figure = &f.at[f.count++];
        bool alone = k == 1 && f.losses == 1;
        figure->name = alone ? "loss" : n->name;
        figure->op = n->op->name;
        figure->rises = n->op->gradient == NULL;
        figure->field = alone ? "loss" : names_take(fields, identifier(e, n->name), k);
        figure->weight =
            names_take(fields, arena_print(e->arena, "%s_weight", figure->field), k);
    }
    return f;
}

static void emit_metrics_struct(Emitter *e)
{
    Writer *w = &e->w;
    Figures f = figures_of(e);
    write_line(w, "// Means since the last reset.  A weight is the divisor of its mean: the samples, or the sum of");
    write_line(w, "// the weights of their labels; a mean of nothing is 0.  Skipped steps (a loss that was not finite%s)",
               is_scaled(e->g) ? ", or a gradient" : "");
    write_line(w, "// are in no mean, a metric that is not finite is in no mean of it.  step counts all training");
    write_line(w, "// steps, updates those that were not skipped.%s",
               is_scaled(e->g) ? "  The next one scales its loss by loss_scale." : "");
    if (f.losses > 1) write_line(w, "// The loss is the sum of the other losses' means.");
    write_line(w, "typedef struct %s_figures {", e->net);
    write_line(w, "    uint64_t step, updates, samples;");
    write_line(w, "    double learning_rate, loss%s;", f.losses == 1 ? ", loss_weight" : "");
    for (int i = f.losses == 1; i < f.count; i++)
        write_line(w, "    double %s, %s;", f.at[i].field, f.at[i].weight);
    if (is_scaled(e->g)) write_line(w, "    double loss_scale;");
    write_line(w, "} %s_figures;", e->net);
    write_blank(w);
}

static void declare_rest(Emitter *e)
{
    Writer *w = &e->w;
    const char *net = e->net;
    if (e->in->train) {
        write_line(w, "// Waits; reset starts new means.");
        write_line(w, "int %s_metrics(%s_context *c, %s_figures *figures, int reset);", net, net, net);
        write_line(w, "// Waits; the learning rate, between training steps; a schedule's factor is of it.");
        write_line(w, "int %s_set(%s_context *c, %s_setting setting, double value);", net, net, net);
    }
    write_line(w, "// The whole state, STATE_BYTES, to and from host memory; they wait.");
    if (!e->in->train) {
        write_line(w, "// import and attach also take the first bytes of the state of a file that trains, where its");
        write_line(w, "// PARAMS_HASH is the same: it is not where training keeps averages to infer from.");
        if (has_half_weights(e->g))
            write_line(w, "// import takes those with F32_PARAMS_HASH too, of F32_PARAMS_BYTES, and rounds weights.");
    }
    write_line(w, "int %s_export(%s_context *c, void *state, size_t bytes);", net, net);
    write_line(w, "int %s_import(%s_context *c, const void *state, size_t bytes);", net, net);
    write_line(w, "// Parameter index, 0 to PARAM_COUNT - 1, or NULL; likewise a running statistic.");
    write_line(w, "const %s_tensor *%s_param(int index);", net, net);
    write_line(w, "const %s_tensor *%s_statistic(int index);", net, net);
    write_line(w, "const %s_error *%s_last_error(const %s_context *c);", net, net, net);
    write_line(w, "const char *%s_strerror(int status);", net);
    write_line(w, "// Only if built with -D%s_STATIC_ARENA: the arena as an array of the module, to pass to init.", e->upper);
    write_line(w, "void *%s_static_arena(void);", net);
}

static void describe_accum(Emitter *e)
{
    Writer *w = &e->w;
    if (e->g->batch < e->g->training.step_batch) {
        write_line(w, "// They go through these samples %" PRId64 " at a time; a slice whose loss is not finite is in", e->g->batch);
        write_line(w, "// no mean of evaluate.");
    }
    write_line(w, "// accum adds the gradients of its samples to those of the training step, and apply ends it: the");
    write_line(w, "// update from their mean over all samples since the last apply, as if these were one batch (to");
    write_line(w, "// rounding; the same random draws).  Where a loss of one was not finite, or there is none, the");
    write_line(w, "// step is skipped.  train is accum and then apply.  Before apply nothing of the state changes");
    write_line(w, "// but its header's count of these samples; init, attach and import forget added gradients, and");
    write_line(w, "// evaluate and infer may come between.");
}

static void describe_train(Emitter *e)
{
    Writer *w = &e->w;
    if (reads_callers_inputs(e)) {
        write_line(w, "// One training step, or loss and metrics alone, on the first samples of *in: at least one, at");
        write_line(w, "// most BATCH.  The stream is not waited for.");
        return;
    }
    write_line(w, "// One training step, or loss and metrics alone, on as many samples as the sizes say: at");
    write_line(w, "// least one, at most BATCH.  Host or device memory; the stream is not waited for, so the");
    write_line(w, "// data in host memory must stay as it is until the stream has passed.");
}

static void declare_programs(Emitter *e)
{
    const char *items[4 * MAX_PORTS];
    const Graph *g = e->program[e->program_count - 1].g;
    Ports p = ports_of(g);
    ValueId plain[MAX_PORTS];
    if (e->in->train) {
        Ports t = ports_of(e->in->eval);
        describe_train(e);
        if (is_accumulating(e->g)) describe_accum(e);
        int count = input_parameters(e, e->in->eval, t.input, t.input_count, items);
        function_head(e, "train", items, count, ";");
        function_head(e, "evaluate", items, count, ";");
        if (is_accumulating(e->g)) {
            function_head(e, "accum", items, count, ";");
            function_head(e, "apply", items, 0, ";");
        }
    }
    write_line(&e->w, "// Outputs of as many samples, there when the stream has passed.");
    int inputs = plain_inputs(e->in->infer, g, &p, plain);
    int count = input_parameters(e, g, plain, inputs, items);
    count += parameters(e, g, p.output, p.output_count, "", items + count);
    function_head(e, "infer", items, count, ";");
}

void emit_declarations(Emitter *e)
{
    Writer *w = &e->w;
    emit_macros(e);
    emit_tensor_macros(e);
    if (e->host.events > 0) print_host_types(e);
    if (reads_callers_inputs(e)) declare_inputs(e);
    for (const char *const *s = declared_chunks; *s; s++)
        if (strcmp(*s, "net_context") == 0)
            print_context(e);
        else if (e->in->train || strcmp(*s, "net_setting"))
            print_chunk(e, *s);
    if (e->in->train) emit_metrics_struct(e);
    write_line(w, "#ifdef __cplusplus");
    write_line(w, "extern \"C\" {");
    write_line(w, "#endif");
    write_line(w, "// Every call returns a %s_status.", e->net);
    declare_init(e);
    declare_trained(e);
    declare_programs(e);
    declare_rest(e);
    write_line(w, "#ifdef __cplusplus");
    write_line(w, "}");
    write_line(w, "#endif");
    write_blank(w);
}

