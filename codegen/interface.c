// Section 4: the C interface.  What is the same for every net stands in the
// runtime (support/interface.cuh); here is what follows from the net's inputs,
// outputs, parameters and metrics.

#include <inttypes.h>
#include <string.h>

#include "emitter.h"

const char *const declared_chunks[] = {"net_status", "net_setting", "net_error",
                                       "net_context", "net_tensor", NULL};

// ---- lists of arguments ---------------------------------------------------------

typedef struct Ports {
    ValueId input[MAX_PORTS], output[MAX_PORTS];
    int     input_count, output_count;
} Ports;

static Ports ports_of(const Graph *g)
{
    Ports p;
    p.input_count = graph_inputs(g, p.input, MAX_PORTS);
    p.output_count = graph_outputs(g, p.output, MAX_PORTS);
    return p;
}

static const char *host_type(DType dtype)
{
    static const char *const types[DTYPE_COUNT] = {"float", "double", "int32_t",
                                                   "uint8_t"};
    return types[dtype];
}

// "const uint8_t *image, size_t image_bytes" and the like, after the context.
static int parameters(Emitter *e, const Graph *g, const ValueId *values,
                      int count, const char *before, const char **items)
{
    for (int i = 0; i < count; i++) {
        const Value *v = &g->values[values[i]];
        const char *name = identifier(e, v->name);
        items[2 * i] = arena_print(e->arena, "%s%s *%s", before,
                                   host_type(v->dtype), name);
        items[2 * i + 1] = arena_print(e->arena, "size_t %s_bytes", name);
    }
    return 2 * count;
}

static void function_head(Emitter *e, const char *name, const char *const *items,
                          int count, const char *tail)
{
    const char *all[4 * MAX_PORTS + 1];
    all[0] = arena_print(e->arena, "%s_context *c", e->net);
    memcpy(all + 1, items, (size_t)count * sizeof *items);
    write_list(&e->w, arena_print(e->arena, "int %s_%s(", e->net, name), all,
               count + 1, arena_print(e->arena, ")%s", tail));
}

// The inputs that inference needs: those that a loss or metric alone reads
// are classes, and stay out.
static int plain_inputs(const Graph *infer, const Graph *g, const Ports *p,
                        ValueId *inputs)
{
    int count = 0;
    for (int i = 0; i < p->input_count; i++)
        for (ValueId v = 0; v < infer->value_count; v++)
            if (infer->values[v].kind == INPUT &&
                !strcmp(infer->values[v].name, g->values[p->input[i]].name))
                inputs[count++] = p->input[i];
    return count;
}

// ---- the declarations ---------------------------------------------------------------

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
    int params = 0;
    if (in->train && in->eval_plan->arena_bytes > bytes)
        bytes = in->eval_plan->arena_bytes;
    for (ValueId v = 0; v < e->g->value_count; v++)
        params += e->g->values[v].kind == PARAM;
    write_line(&e->w, "// The arena that init wants; what inference alone would want; the state at its start.");
    define_bytes(e, "ARENA_BYTES", bytes);
    define_bytes(e, "INFER_ARENA_BYTES", in->infer_plan->arena_bytes);
    define_bytes(e, "STATE_BYTES", plan->state_bytes);
    define_bytes(e, "ARENA_ALIGN", ALIGNMENT);
    define_bytes(e, "BATCH", e->g->batch);
    define_bytes(e, "PARAM_COUNT", params);
    define_bytes(e, "USES_CUBLAS", e->uses_library);
    define(e, "STATE_HASH", arena_print(arena, "0x%016" PRIx64 "u", state_hash(e->g)));
    define(e, "PLAN_HASH", arena_print(arena, "0x%016" PRIx64 "u", plan_hash(plan)));
    define(e, "LEARNING_RATE",
           in->train ? arena_print(arena, "%.17g", e->g->optimizer_attr[0].f) : "0.0");
    write_blank(&e->w);
}

static void emit_tensor_macros(Emitter *e)
{
    write_line(&e->w, "// Where each parameter lies in the state, in bytes.");
    for (ValueId v = 0; v < e->g->value_count; v++) {
        const Value *value = &e->g->values[v];
        if (value->kind != PARAM) continue;
        const char *name = upper_case(e->arena, place_name(&e->program[0], v));
        define_bytes(e, arena_print(e->arena, "%s_OFFSET", name), value->offset);
        define_bytes(e, arena_print(e->arena, "%s_BYTES", name), value_bytes(value));
        define(e, arena_print(e->arena, "%s_DTYPE", name),
               arena_print(e->arena, "\"%s\"", dtype_names[value->dtype]));
    }
    write_blank(&e->w);
}

static int metric_fields(Emitter *e, const char **names)
{
    int count = graph_metrics(e->g, names, MAX_FIGURES);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (!strcmp(names[i], names[j]))
                names[i] = arena_print(e->arena, "%s_%d", names[i], i + 1);
    return count;
}

static void emit_metrics_struct(Emitter *e)
{
    Writer *w = &e->w;
    const char *names[MAX_FIGURES];
    int count = metric_fields(e, names);
    write_line(w, "// Means over the samples since the last reset; skipped steps (a loss that was not finite)");
    write_line(w, "// are not in them.  step counts all training steps, updates those that were not skipped.");
    write_line(w, "typedef struct %s_metrics {", e->net);
    write_line(w, "    uint64_t step, updates, samples;");
    write_line(w, "    double learning_rate, loss;");
    for (int i = 0; i < count; i++) write_line(w, "    double %s;", names[i]);
    write_line(w, "} %s_metrics;", e->net);
    write_blank(w);
}

static void declare_fixed(Emitter *e)
{
    Writer *w = &e->w;
    const char *net = e->net;
    write_line(w, "// Takes an arena of at least ARENA_BYTES, aligned to ARENA_ALIGN, on the device, and fills");
    write_line(w, "// its state with fresh weights drawn from seed; attach takes one that holds a state already.");
    write_line(w, "// cublas may be NULL where USES_CUBLAS is 0; its stream and workspace are set at each use.");
    write_line(w, "int %s_init(%s_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream,", net, net);
    write_line(w, "    struct cublasContext *cublas, uint64_t seed);");
    write_line(w, "int %s_attach(%s_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream,", net, net);
    write_line(w, "    struct cublasContext *cublas);");
}

static void declare_rest(Emitter *e)
{
    Writer *w = &e->w;
    const char *net = e->net;
    if (e->in->train) {
        write_line(w, "// Waits; reset starts new means.");
        write_line(w, "int %s_metrics_read(%s_context *c, %s_metrics *metrics, int reset);", net, net, net);
        write_line(w, "int %s_set(%s_context *c, %s_setting setting, double value);", net, net, net);
    }
    write_line(w, "// The whole state, STATE_BYTES, out of and into the arena; they wait.");
    write_line(w, "int %s_export(%s_context *c, void *state, size_t bytes);", net, net);
    write_line(w, "int %s_import(%s_context *c, const void *state, size_t bytes);", net, net);
    write_line(w, "// Parameter index, 0 to PARAM_COUNT - 1, or NULL.");
    write_line(w, "const %s_tensor *%s_param(int index);", net, net);
    write_line(w, "const %s_error *%s_last_error(const %s_context *c);", net, net, net);
    write_line(w, "const char *%s_strerror(int status);", net);
}

static void declare_programs(Emitter *e)
{
    const char *items[4 * MAX_PORTS];
    const Graph *g = e->program[e->program_count - 1].g;
    Ports p = ports_of(g);
    ValueId plain[MAX_PORTS];
    if (e->in->train) {
        Ports t = ports_of(e->in->train);
        write_line(&e->w, "// One training step, or loss and metrics alone, on as many samples as the sizes say: at");
        write_line(&e->w, "// least one, at most BATCH.  Host or device memory; the stream is not waited for.");
        int count = parameters(e, e->in->train, t.input, t.input_count, "const ", items);
        function_head(e, "train", items, count, ";");
        function_head(e, "evaluate", items, count, ";");
    }
    write_line(&e->w, "// Outputs of as many samples.");
    int inputs = plain_inputs(e->in->infer, g, &p, plain);
    int count = parameters(e, g, plain, inputs, "const ", items);
    count += parameters(e, g, p.output, p.output_count, "", items + count);
    function_head(e, "infer", items, count, ";");
}

void emit_declarations(Emitter *e)
{
    Writer *w = &e->w;
    emit_macros(e);
    emit_tensor_macros(e);
    for (const char *const *s = declared_chunks; *s; s++) print_chunk(e, *s);
    if (e->in->train) emit_metrics_struct(e);
    write_line(w, "#ifdef __cplusplus");
    write_line(w, "extern \"C\" {");
    write_line(w, "#endif");
    write_line(w, "// Every call returns a %s_status.", e->net);
    declare_fixed(e);
    declare_programs(e);
    declare_rest(e);
    write_line(w, "#ifdef __cplusplus");
    write_line(w, "}");
    write_line(w, "#endif");
    write_blank(w);
}

// ---- the definitions -------------------------------------------------------------------

static void emit_params_table(Emitter *e)
{
    Writer *w = &e->w;
    write_line(w, "static const %s_tensor %s_params[] = {", e->net, e->net);
    const char **limits = NEW_ARRAY(e->arena, e->g->value_count + 1, const char *);
    int count = 0;
    for (ValueId v = 0; v < e->g->value_count; v++) {
        const Value *value = &e->g->values[v];
        if (value->kind != PARAM) continue;
        const char *dims = "";
        for (int i = 0; i < value->shape.rank; i++)
            dims = arena_print(e->arena, "%s%s%" PRId64, dims, i ? ", " : "",
                               value->shape.dim[i]);
        write_line(w, "    {\"%s\", \"%s\", %d, {%s}, %s.offset, %" PRId64 "},",
                   value->name, dtype_names[value->dtype], value->shape.rank,
                   dims, e->program[0].place[v], value_bytes(value));
        limits[count++] = arena_print(e->arena, "%.17g", value->init_limit);
    }
    if (!count) write_line(w, "    {0, 0, 0, {0}, 0, 0},");
    write_line(w, "};");
    write_blank(w);
    if (!count) limits[count++] = "0";
    write_line(w, "// Fresh weights are uniform in plus or minus these; 0 is zeros.");
    write_list(w, "static const double init_limits[] = {", limits, count, "};");
    write_blank(w);
}

static void emit_static_arena(Emitter *e)
{
    Writer *w = &e->w;
    write_line(w, "// For firmware that wants no pointer: the arena as an array of the module.");
    write_line(w, "#ifdef %s_STATIC_ARENA", e->upper);
    write_line(w, "#if %s_ARENA_BYTES > 1073741824", e->upper);
    write_line(w, "#error \"a static arena above 1 GiB does not link without -mcmodel=medium; pass a pointer\"");
    write_line(w, "#endif");
    write_line(w, "static __device__ __align__(%d) unsigned char %s_static_arena[%s_ARENA_BYTES];",
               ALIGNMENT, e->net, e->upper);
    write_line(w, "#endif");
    write_blank(w);
}

// ---- chains: one condition of calls, any of which may fail ----------------------

typedef struct Chain {
    const char *text[6 * MAX_PORTS];
    int         count;
} Chain;

// A tensor is whole samples, as many as the others.
static void chain_samples(Emitter *e, Chain *chain, const Graph *g, ValueId v,
                          const char *call)
{
    const char *name = identifier(e, g->values[v].name);
    chain->text[chain->count++] = arena_print(
        e->arena, "%s_samples(c, \"%s: %s\", %s, %s_bytes, %" PRId64 ", &given)",
        e->net, call, name, name, name, sample_bytes(g, v));
}

// An input goes to its staging.
static void chain_stage(Emitter *e, Chain *chain, const Program *p, ValueId v,
                        const char *from, const char *bytes)
{
    chain->text[chain->count++] = arena_print(
        e->arena, "%s_stage(c, %s.offset, %" PRId64 ", %s, %s)", e->net,
        p->place[v], value_bytes(&p->g->values[v]), from, bytes);
}

static void chain_steps(Emitter *e, Chain *chain, const Program *p,
                        const char *arguments)
{
    chain->text[chain->count++] = arena_print(e->arena, "%s_%s_steps(c%s)",
                                              e->net, p->space, arguments);
}

static void write_chain(Emitter *e, const Chain *chain)
{
    for (int i = 0; i < chain->count; i++)
        write_line(&e->w, "%s%s%s", i ? "        " : "    if (", chain->text[i],
                   i + 1 < chain->count ? " ||" : ")");
    write_line(&e->w, "        return c->error.status;");
    write_line(&e->w, "    return %s_OK;", e->upper);
    write_line(&e->w, "}");
    write_blank(&e->w);
}

// ---- the calls that follow from inputs and outputs --------------------------------

static void emit_every_step(Emitter *e)
{
    static const char *const arguments[MODE_COUNT] = {
        [TRAIN] = ", 0", [EVAL] = ", 0, true", [INFER] = ""};
    Chain chain = {.count = 0};
    for (int i = 0; i < e->program_count; i++) {
        const Program *p = &e->program[i];
        Ports ports = ports_of(p->g);
        for (int k = 0; k < ports.input_count; k++)
            chain_stage(e, &chain, p, ports.input[k], "0", "0");
        chain_steps(e, &chain, p, arguments[p->g->mode]);
    }
    write_line(&e->w, "static int %s_every_step(%s_context *c)", e->net, e->net);
    write_line(&e->w, "{");
    write_chain(e, &chain);
}

static void stage_inputs(Emitter *e, Chain *chain, const Program *p,
                         const ValueId *inputs, int count)
{
    for (int i = 0; i < count; i++) {
        const char *name = identifier(e, p->g->values[inputs[i]].name);
        chain_stage(e, chain, p, inputs[i], name,
                    arena_print(e->arena, "%s_bytes", name));
    }
}

static void open_call(Emitter *e, const char *call)
{
    write_line(&e->w, "{");
    write_line(&e->w, "    size_t given = 0;");
    write_line(&e->w, "    if (const int status = %s_is_ready(c, \"%s\")) return status;",
               e->net, call);
}

static void emit_scored_call(Emitter *e, const Program *p, const char *call,
                             const char *arguments)
{
    const char *items[4 * MAX_PORTS];
    Ports ports = ports_of(p->g);
    Chain chain = {.count = 0};
    int count = parameters(e, p->g, ports.input, ports.input_count, "const ", items);
    for (int i = 0; i < ports.input_count; i++)
        chain_samples(e, &chain, p->g, ports.input[i], call);
    stage_inputs(e, &chain, p, ports.input, ports.input_count);
    chain_steps(e, &chain, p, arguments);
    function_head(e, call, items, count, "");
    open_call(e, call);
    write_chain(e, &chain);
}

static void emit_infer(Emitter *e)
{
    const Program *p = &e->program[e->program_count - 1];
    const char *items[4 * MAX_PORTS];
    ValueId values[2 * MAX_PORTS];
    Chain chain = {.count = 0};
    Ports ports = ports_of(p->g);
    int inputs = plain_inputs(e->in->infer, p->g, &ports, values);
    int count = parameters(e, p->g, values, inputs, "const ", items);
    count += parameters(e, p->g, ports.output, ports.output_count, "", items + count);
    memcpy(values + inputs, ports.output, sizeof *values * (size_t)ports.output_count);
    for (int i = 0; i < inputs + ports.output_count; i++)
        chain_samples(e, &chain, p->g, values[i], "infer");
    stage_inputs(e, &chain, p, values, inputs);
    chain_steps(e, &chain, p,
                p->g->mode == EVAL ? ", (long long)given, false" : "");
    for (int i = 0; i < ports.output_count; i++) {
        const char *name = identifier(e, p->g->values[ports.output[i]].name);
        chain.text[chain.count++] = arena_print(
            e->arena, "%s_fetch(c, %s, %s.offset, %s_bytes)", e->net, name,
            p->place[ports.output[i]], name);
    }
    function_head(e, "infer", items, count, "");
    open_call(e, "infer");
    write_chain(e, &chain);
}

static void emit_metrics_read(Emitter *e)
{
    Writer *w = &e->w;
    const char *names[MAX_FIGURES];
    int count = metric_fields(e, names);
    write_line(w, "int %s_metrics_read(%s_context *c, %s_metrics *metrics, int reset)",
               e->net, e->net, e->net);
    write_line(w, "{");
    write_line(w, "    Header header;");
    write_line(w, "    if (const int status = %s_is_ready(c, \"metrics_read\")) return status;", e->net);
    write_line(w, "    if (!metrics) return %s_refuse(c, %s_BAD_ARGUMENT, \"metrics_read\", \"metrics is null\", 0, 0);",
               e->net, e->upper);
    write_line(w, "    if (%s_read_header(c, &header)) return c->error.status;", e->net);
    write_line(w, "    const double samples = header.samples ? (double)header.samples : 1.0;");
    write_line(w, "    metrics->step = header.step;");
    write_line(w, "    metrics->updates = header.updates;");
    write_line(w, "    metrics->samples = header.samples;");
    write_line(w, "    metrics->learning_rate = header.rate;");
    write_line(w, "    metrics->loss = header.sums[0] / samples;");
    for (int i = 0; i < count; i++)
        write_line(w, "    metrics->%s = header.sums[%d] / samples;", names[i], i + 1);
    write_line(w, "    if (!reset) return %s_OK;", e->upper);
    write_line(w, "    header.samples = 0;");
    write_line(w, "    memset(header.sums, 0, sizeof header.sums);");
    write_line(w, "    return %s_write_header(c, &header);", e->net);
    write_line(w, "}");
    write_blank(w);
}

void emit_interface(Emitter *e)
{
    Writer *w = &e->w;
    write_section(w, 4, "interface");
    emit_params_table(e);
    emit_static_arena(e);
    print_chunk(e, "net_stage");
    emit_every_step(e);
    static const char *const fixed[] = {"net_init", "net_attach"};
    for (int i = 0; i < 2; i++) print_chunk(e, fixed[i]);
    print_chunk(e, "net_is_ready");
    print_chunk(e, "net_samples");
    print_chunk(e, "net_fetch");
    if (e->in->train) {
        emit_scored_call(e, &e->program[0], "train", ", (long long)given");
        emit_scored_call(e, &e->program[1], "evaluate",
                         ", (long long)given, true");
    }
    emit_infer(e);
    if (e->in->train) {
        emit_metrics_read(e);
        print_chunk(e, "net_set");
    }
    static const char *const rest[] = {"net_export", "net_import", "net_param",
                                       "net_last_error", "net_strerror"};
    for (int i = 0; i < 5; i++) print_chunk(e, rest[i]);
}
