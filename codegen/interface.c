// Section 4: the C interface.  The runtime (support/net/interface.cuh) contains the code that is
// the same for every net.  This file prints the code that depends on the net's inputs, outputs,
// parameters and metrics.

#include <inttypes.h>
#include <string.h>

#include "../ir/dtype.h"
#include "work.h"

// Prints the rows of the weights of a kind, and adds their starts to inits.
static int emit_weights(Emitter *e, Kind kind, const char **inits)
{
    int count = 0, number = 0;
    for (ValueId v = 0; v < e->g->value_count; v++) {
        const Value *value = &e->g->values[v];
        number += is_weight(value->kind);
        if (value->kind != kind) continue;
        write_line(&e->w, "    {\"%s\", \"%s\", %d, {%s}, %s.offset, %" PRId64 "},",
                   value->name, dtype_names[value->dtype], value->shape.rank,
                   dims_text(e, value->shape, ", "), e->program[0].place[v],
                   value_bytes(value));
        inits[count++] = arena_print(e->arena, "{%d, %.17g, %d}", (int)value->init.kind,
                                     value->init.scale, number - 1);
    }
    return count;
}

static void emit_params_table(Emitter *e)
{
    Writer *w = &e->w;
    const char **inits = NEW_ARRAY(e->arena, e->g->value_count + 1, const char *);
    write_line(w, "// Parameters, then running statistics.");
    write_line(w, "static const %s_tensor %s_params[] = {", e->net, e->net);
    int count = emit_weights(e, PARAM, inits);
    count += emit_weights(e, STATISTIC, inits + count);
    if (!count) write_line(w, "    {0, 0, 0, {0}, SIZE_MAX, 0},");
    write_line(w, "};");
    write_blank(w);
    if (!count) inits[count++] = "{0, 0, 0}";
    print_chunk(e, "Init");
    write_list(w, "static const Init inits[] = {", inits, count, "};");
    write_blank(w);
}

// ---- the state before training ---------------------------------------------------

static bool begins_as(const Graph *g, InitKind kind)
{
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].init.kind == kind) return true;
    return false;
}

static void emit_averages_table(Emitter *e)
{
    const char *const *place = e->program[0].place;
    print_chunk(e, "Average");
    write_line(&e->w, "static const Average averages[] = {");
    for (ValueId v = 0; v < e->g->value_count; v++) {
        const Value *value = &e->g->values[v];
        if (value->init.kind != INIT_COPY) continue;
        write_line(&e->w, "    {%s.offset, %s.offset, %" PRId64 "},", place[v],
                   place[value->state_of], value_bytes(value));
    }
    write_line(&e->w, "};");
    write_blank(&e->w);
}

static void emit_half_weight(Emitter *e)
{
    const char *type = stored_name(e->g->weight);
    if (is_half(e->g->weight)) print_chunk(e, type);
    write_line(&e->w, "// HalfWeight: the storage type of weights with two dimensions and more.");
    write_line(&e->w, "using HalfWeight = %s;", type);
    write_blank(&e->w);
    skip_chunk(e, "HalfWeight");
}

// Prints <net>_begin, which sets the parameters to the net's initial values.
static void emit_begin(Emitter *e)
{
    Writer *w = &e->w;
    bool small = has_small_weights(e->g);
    const char *draw = small ? "net_draw_mixed_parameters" : "net_draw_parameters";
    const char *turn = small ? "net_make_halves_orthogonal" : "net_make_orthogonal";
    bool orthogonal = begins_as(e->g, INIT_ORTHOGONAL);
    bool averages = begins_as(e->g, INIT_COPY);
    if (small) emit_half_weight(e);
    if (!orthogonal && !averages) {
        const ChunkEdit alone[] = {{draw, "net_begin"}, {0, 0}};
        print_chunk_edited(e, draw, alone);
        return;
    }
    print_chunk(e, draw);
    if (orthogonal) print_chunk(e, turn);
    if (averages) {
        emit_averages_table(e);
        print_chunk(e, "net_start_averages");
    }
    write_line(w, "static int %s_begin(%s_context *c, uint64_t seed)", e->net, e->net);
    write_line(w, "{");
    write_line(w, "    TRY(%s%s(c, seed));", e->net, draw + 3);
    if (orthogonal) write_line(w, "    TRY(%s%s(c));", e->net, turn + 3);
    if (averages) write_line(w, "    TRY(%s_start_averages(c));", e->net);
    write_line(w, "    return %s_OK;", e->upper);
    write_line(w, "}");
    write_blank(w);
}

// Prints an arena for firmware that passes no pointer.  With -D<NET>_STATIC_ARENA it is an array of
// the module, and <net>_static_arena() returns its address.
static void emit_static_arena(Emitter *e)
{
    Writer *w = &e->w;
    write_line(w, "#ifdef %s_STATIC_ARENA", e->upper);
    write_line(w, "static_assert(%s_ARENA_BYTES <= 1 << 30, \"above 1 GiB pass a pointer\");", e->upper);
    write_line(w, "static __device__ __align__(%d) unsigned char %s_arena[%s_ARENA_BYTES];",
               ALIGNMENT, e->net, e->upper);
    write_line(w, "void *%s_static_arena(void)", e->net);
    write_line(w, "{");
    write_line(w, "    void *arena = 0;");
    write_line(w, "    return cudaGetSymbolAddress(&arena, %s_arena) == cudaSuccess ? arena : 0;", e->net);
    write_line(w, "}");
    write_line(w, "#endif");
    write_blank(w);
}

// ---- calls that depend on inputs and outputs ---------------------------------------

// True if the header counts samples for an update that follows later.
static bool counts_late(const Emitter *e)
{
    return is_accumulating(e->g) || is_scaled(e->g);
}

static void emit_every_step(Emitter *e)
{
    static const char *const arguments[MODE_COUNT] = {
        [TRAIN] = ", 0", [EVAL] = ", 0, true", [INFER] = ""};
    Chain chain = {.count = 0};
    // Otherwise this call would apply gradients left in an attached arena.
    if (counts_late(e)) {
        print_chunk(e, "net_forget");
        chain.text[chain.count++] = arena_print(e->arena, "%s_forget(c)", e->net);
    }
    for (int i = 0; i < e->program_count; i++) {
        const Program *p = &e->program[i];
        Ports ports = ports_of(p->g);
        for (int k = 0; k < ports.input_count && !reads_callers_inputs(e); k++)
            chain_stage(e, &chain, p, ports.input[k], "0", "0");
        chain_steps(e, &chain, p, arguments[p->g->mode]);
        if (p->plan->batch_steps > 0) chain_apply(e, &chain);
    }
    chain.text[chain.count++] = arena_print(e->arena, "%s_wait(c)", e->net);
    print_chunk(e, "net_wait");
    write_line(&e->w, "static int %s_every_step(%s_context *c)", e->net, e->net);
    write_line(&e->w, "{");
    write_chain(e, &chain);
}

static void open_call(Emitter *e, const char *call)
{
    write_line(&e->w, "{");
    write_line(&e->w, "    size_t given = %s;", reads_callers_inputs(e) ? "samples" : "0");
    write_line(&e->w, "    TRY(%s_is_ready(c, \"%s\"));", e->net, call);
}

// Training and evaluation take the same arguments: the inputs of evaluation.  Training may need
// fewer, if only an output reads an input.  of: the call that names the work; applies: the update
// follows.
static void emit_scored_call(Emitter *e, const char *call, const Work *work, const char *of,
                             bool applies)
{
    const char *items[4 * MAX_PORTS];
    const Graph *g = e->in->eval;
    Ports ports = ports_of(g);
    Chain chain = {.count = 0};
    int count = input_parameters(e, g, ports.input, ports.input_count, items);
    chain_inputs(e, &chain, g, ports.input, ports.input_count, call);
    chain_all(e, &chain, work, of);
    if (applies) chain_apply(e, &chain);
    function_head(e, call, items, count, "");
    open_call(e, call);
    write_chain(e, &chain);
}

static void emit_apply(Emitter *e)
{
    Writer *w = &e->w;
    write_line(w, "int %s_apply(%s_context *c)", e->net, e->net);
    write_line(w, "{");
    write_line(w, "    TRY(%s_is_ready(c, \"apply\"));", e->net);
    write_line(w, "    return %s_apply_steps(c);", e->net);
    write_line(w, "}");
    write_blank(w);
}

static void emit_train(Emitter *e)
{
    const Program *p = &e->program[0];
    Ports own = ports_of(p->g);
    const Work work = {.p = p, .inputs = own.input, .input_count = own.input_count,
                       .arguments = samples_argument(p)};
    bool accumulates = p->plan->batch_steps > 0;
    emit_slices(e, &work, "accum");
    if (accumulates) {
        emit_scored_call(e, "accum", &work, "accum", false);
        emit_apply(e);
    }
    emit_scored_call(e, "train", &work, "accum", accumulates);
}

static void emit_evaluate(Emitter *e)
{
    const Program *p = &e->program[1];
    Ports own = ports_of(p->g);
    const Work work = {.p = p, .inputs = own.input, .input_count = own.input_count,
                       .arguments = arena_print(e->arena, "%s, true", samples_argument(p))};
    emit_slices(e, &work, "evaluate");
    emit_scored_call(e, "evaluate", &work, "evaluate", false);
}

static void emit_infer(Emitter *e)
{
    const Program *p = &e->program[e->program_count - 1];
    const char *items[4 * MAX_PORTS];
    ValueId values[2 * MAX_PORTS];
    Chain chain = {.count = 0};
    Ports ports = ports_of(p->g);
    int inputs = plain_inputs(e->in->infer, p->g, &ports, values);
    int count = input_parameters(e, p->g, values, inputs, items);
    count += parameters(e, p->g, ports.output, ports.output_count, "", items + count);
    memcpy(values + inputs, ports.output, sizeof *values * (size_t)ports.output_count);
    chain_inputs(e, &chain, p->g, values, inputs, "infer");
    for (int i = 0; i < ports.output_count; i++)
        chain_samples(e, &chain, p->g, ports.output[i], "infer");
    const char *arguments = "";
    if (p->g->mode == EVAL)
        arguments = arena_print(e->arena, "%s, false", samples_argument(p));
    const Work work = {p, values, ports.output, inputs, ports.output_count, arguments};
    emit_slices(e, &work, "infer");
    chain_all(e, &chain, &work, "infer");
    function_head(e, "infer", items, count, "");
    open_call(e, "infer");
    write_chain(e, &chain);
}

static void emit_metrics(Emitter *e)
{
    Writer *w = &e->w;
    Figures f = figures_of(e);
    print_chunk(e, "net_mean");
    write_line(w, "int %s_metrics(%s_context *c, %s_figures *figures, int reset)",
               e->net, e->net, e->net);
    write_line(w, "{");
    write_line(w, "    StateHeader header;");
    write_line(w, "    TRY(%s_is_ready(c, \"metrics\"));", e->net);
    write_line(w, "    if (!figures) return %s_refuse(c, %s_BAD_ARGUMENT, \"metrics\", \"figures is null\");",
               e->net, e->upper);
    write_line(w, "    TRY(%s_get(c, &header, 0, sizeof header));", e->net);
    write_line(w, "    figures->step = header.step;");
    write_line(w, "    figures->updates = header.updates;");
    write_line(w, "    figures->samples = header.samples;");
    write_line(w, "    figures->learning_rate = header.rate;");
    if (f.losses > 1) write_line(w, "    figures->loss = 0;");
    for (int i = 0; i < f.count; i++) {
        write_line(w, "    figures->%s = header.figures[%d].weight;", f.at[i].weight, i);
        write_line(w, "    figures->%s = %s_mean(header.figures[%d]);", f.at[i].field, e->net, i);
        if (i < f.losses && f.losses > 1)
            write_line(w, "    figures->loss += figures->%s;", f.at[i].field);
    }
    if (is_scaled(e->g) && e->g->training.loss_scale_interval != 0)
        write_line(w, "    figures->loss_scale = header.loss_scale > 0 ? header.loss_scale : %s_LOSS_SCALE;",
                   e->upper);
    else if (is_scaled(e->g))
        write_line(w, "    figures->loss_scale = %s_LOSS_SCALE;", e->upper);
    write_line(w, "    if (!reset) return %s_OK;", e->upper);
    write_line(w, "    header.samples = 0;");
    write_line(w, "    memset(header.figures, 0, sizeof header.figures);");
    write_line(w, "    return %s_put(c, 0, &header, sizeof header);", e->net);
    write_line(w, "}");
    write_blank(w);
}

// A state holds no gradient sums, so import discards the accumulated gradients.  With weights of 16
// bits, it takes those of a file that trains, too.
static void emit_import(Emitter *e)
{
    Writer *w = &e->w;
    bool halves = has_half_weights(e->g);
    if (!counts_late(e) && !halves) {
        print_chunk(e, "net_import");
        return;
    }
    // This chunk becomes a part of the file's own import.
    static const ChunkEdit edits[] = {{"int net_import", "static int net_take_state"}, {0, 0}};
    print_chunk_edited(e, "net_import", edits);
    if (halves) {
        static const ChunkEdit name[] = {{"net_import_any", "net_import"}, {0, 0}};
        print_chunk_edited(e, "net_import_any", name);
        return;
    }
    write_line(w, "int %s_import(%s_context *c, const void *state, size_t bytes)", e->net, e->net);
    write_line(w, "{");
    write_line(w, "    TRY(%s_take_state(c, state, bytes));", e->net);
    write_line(w, "    return %s_forget(c);", e->net);
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
    emit_begin(e);
    emit_init_calls(e);
    print_chunk(e, "net_is_ready");
    if (!reads_callers_inputs(e) || ports_of(e->program[e->program_count - 1].g).output_count > 0)
        print_chunk(e, "net_samples");
    print_chunk(e, "net_fetch");
    if (e->in->train) {
        emit_train(e);
        emit_evaluate(e);
    }
    emit_infer(e);
    if (e->in->train) {
        emit_metrics(e);
        print_chunk(e, "net_set");
    }
    print_chunk(e, "net_export");
    emit_import(e);
    emit_trained(e);
    static const char *const rest[] = {"net_param", "net_statistic", "net_last_error",
                                       "net_strerror"};
    for (int i = 0; i < 4; i++) print_chunk(e, rest[i]);
}
