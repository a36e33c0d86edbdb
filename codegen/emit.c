// Prints the emitted file from first to last line, in the order of its sections. Each section has a
// file in this folder.

#include <string.h>

#include "../ir/base/version.h"
#include "../ir/dtype.h"
#include "chunks.h"
#include "emitter.h"

void take_program(Emitter *e, const Graph *g, const Plan *plan, const char *space)
{
    Program *p = &e->program[e->program_count++];
    *p = (Program){.g = g, .plan = plan, .space = space};
    p->first_step = e->step_count;
    e->step_count += plan->step_count;
}

void prepare_emitter(Emitter *e)
{
    e->g = e->program[0].g;
    e->host = host_use(e->g);
    e->arena = e->g->arena;
    e->net = e->in && e->in->prefix ? e->in->prefix : net_word(e, e->g->name);
    e->upper = upper_case(e->arena, e->net);
    e->printed = NEW_ARRAY(e->arena, chunk_count, bool);
    e->chunk_names = chunk_names(e->arena);
    name_places(e);
}

static Emitter new_emitter(const EmitInput *in, FILE *out)
{
    Emitter e = {.in = in, .w = {.out = out, .width = 100}};
    if (in->train) {
        take_program(&e, in->train, in->train_plan, "train");
        take_program(&e, in->eval, in->eval_plan, "eval");
    } else
        take_program(&e, in->infer, in->infer_plan, "infer");
    prepare_emitter(&e);
    return e;
}

// ---- queries of a graph for several sections --------------------------------------

int graph_inputs(const Graph *g, ValueId *inputs, int limit)
{
    int count = 0;
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].kind == INPUT && count < limit) inputs[count++] = v;
    return count;
}

// Returns the number of the graph's outputs, which it sets in the program's order.
int graph_outputs(const Graph *g, ValueId *outputs, int limit)
{
    int count = 0;
    for (ValueId v = 0; v < g->value_count; v++) {
        int32_t number = g->values[v].output_number;
        if (!number || count == limit) continue;
        int at = count++;
        while (at > 0 && g->values[outputs[at - 1]].output_number > number) {
            outputs[at] = outputs[at - 1];
            at--;
        }
        outputs[at] = v;
    }
    return count;
}

int64_t call_batch(const Graph *g)
{
    return is_accumulating(g) ? g->training.step_batch : g->batch;
}

int64_t sample_bytes(const Graph *g, ValueId v)
{
    return value_bytes(&g->values[v]) / g->batch;
}

// ---- hashes ------------------------------------------------------------------------

static uint64_t mix(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ b[i]) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return mix(hash, text, strlen(text) + 1);
}

static uint64_t mix_number(uint64_t hash, int64_t number)
{
    unsigned char b[8];
    for (int i = 0; i < 8; i++) b[i] = (unsigned char)((uint64_t)number >> 8 * i);
    return mix(hash, b, 8);
}

// Returns the FNV-1a hash of names, types and shapes of values whose kind belongs.
// Parameters of 8 or 16 bits count as of the type `weight`.
static uint64_t hash_values(const Graph *g, const char *begin, DType weight,
                            bool (*belongs)(Kind kind))
{
    uint64_t hash = mix_text(UINT64_C(14695981039346656037), begin);
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        if (!belongs(value->kind)) continue;
        bool is_small = value->kind == PARAM && value->dtype != g->real;
        hash = mix_text(hash, value->name);
        hash = mix_text(hash, dtype_names[is_small ? weight : value->dtype]);
        for (int i = 0; i < value->shape.rank; i++)
            hash = mix_number(hash, value->shape.dim[i]);
    }
    return hash;
}

uint64_t state_hash(const Graph *g)
{
    return hash_values(g, g->training.optimizer ? g->training.optimizer->name : "", g->weight,
                       is_persistent);
}

// The weights count as of the type `weight` where they are not f32.
static uint64_t hash_params(const Graph *g, DType weight)
{
    bool averages = g->mode == TRAIN && g->training.average != 0;
    uint64_t hash = hash_values(g, averages ? "averages" : "", weight, is_weight);
    // The header's size determines the offset of the parameters.
    return mix_number(hash, value_bytes(&g->values[g->header]));
}

uint64_t params_hash(const Graph *g)
{
    return hash_params(g, g->weight);
}

uint64_t f32_params_hash(const Graph *g)
{
    return hash_params(g, g->real);
}

bool has_small_weights(const Graph *g)
{
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].kind == PARAM && g->values[v].dtype != g->real) return true;
    return false;
}

bool has_half_weights(const Graph *g)
{
    return is_half(g->weight) && has_small_weights(g);
}

int64_t f32_params_bytes(const Graph *g)
{
    int64_t bytes = value_bytes(&g->values[g->header]);
    for (ValueId v = 0; v < g->value_count; v++) {
        Value value = g->values[v];
        if (!is_weight(value.kind)) continue;
        value.dtype = g->real;
        bytes += padded(value_bytes(&value));
    }
    return bytes;
}

int64_t statistics_offset(const Graph *g)
{
    int64_t first = params_bytes(g);
    for (ValueId v = 0; v < g->value_count; v++)
        if (g->values[v].kind == STATISTIC && g->values[v].offset < first)
            first = g->values[v].offset;
    return first;
}

int64_t params_bytes(const Graph *g)
{
    int64_t end = value_bytes(&g->values[g->header]);
    for (ValueId v = 0; v < g->value_count; v++) {
        const Value *value = &g->values[v];
        int64_t after = value->offset + padded(value_bytes(value));
        if (is_weight(value->kind) && after > end) end = after;
    }
    return end;
}

uint64_t plan_hash(const Plan *plan)
{
    uint64_t hash = mix_number(UINT64_C(14695981039346656037), plan->arena_bytes);
    for (int i = 0; i < plan->step_count; i++)
        hash = mix_text(hash, plan->steps[i].name);
    for (int i = 0; i < plan->buffer_count; i++)
        hash = mix_number(hash, plan->buffers[i].offset);
    return hash;
}

// ---- the two files -------------------------------------------------------------------

static void emit_preamble(Emitter *e)
{
    Writer *w = &e->w;
    const char **names = NEW_ARRAY(e->arena, e->step_count + 7, const char *);
    int count = 0;
    for (int i = 0; i < e->step_count; i++) names[count++] = e->launches[i].kernel;
    names[count++] = "net_init";
    names[count++] = "net_draw_parameters";
    names[count++] = e->uses_library ? "PRODUCT" : "STEP";
    if (e->host.events > 0) names[count++] = "COPY";
    if (e->in->with_main) names[count++] = "trainer_main";
    if (e->in->with_trace) names[count++] = "mark_launch";
    if (is_half(e->g->map)) names[count++] = c_type(e, e->g->map);
    print_includes(e, names, count);
    if (e->in->header_name) {
        write_line(w, "#include \"%s\"", e->in->header_name);
        for (const char *const *s = declared_chunks; *s; s++) skip_chunk(e, *s);
        if (e->host.events > 0) skip_host_types(e);
    } else {
        write_blank(w);
        emit_declarations(e);
    }
}

// Opens a namespace for the net.  Nets may have different kernels and shapes of one name, and the
// linker would merge them.
static void open_namespace(Emitter *e)
{
    write_blank(&e->w);
    write_line(&e->w, "// Sections 1 to 3 are this net's own: another's kernels may bear the same names.");
    write_line(&e->w, "namespace %s_program {", e->net);
}

static void close_namespace(Emitter *e)
{
    write_line(&e->w, "}");
    write_line(&e->w, "using namespace %s_program;", e->net);
}

void emit_cuda(const EmitInput *in, FILE *out)
{
    Emitter e = new_emitter(in, out);
    make_launches(&e);
    if (e.g->diag->error_count > 0) return;
    emit_banner(&e);
    emit_preamble(&e);
    if (in->with_main) print_chunk(&e, "LaunchMarks");
    open_namespace(&e);
    emit_memory(&e);
    emit_kernels(&e);
    emit_steps(&e);
    close_namespace(&e);
    emit_interface(&e);
    if (in->with_main) emit_program(&e);
}

void emit_header(const EmitInput *in, FILE *out)
{
    Emitter e = new_emitter(in, out);
    Writer *w = &e.w;
    make_launches(&e);
    w->width = 80;
    write_line(w, "// %s - the interface of `%s`, written by cnnc " CNNC_VERSION ".",
               in->header_name ? in->header_name : "header", e.g->name);
    write_line(w, "#ifndef %s_H", e.upper);
    write_line(w, "#define %s_H", e.upper);
    write_blank(w);
    write_line(w, "#include <stddef.h>");
    write_line(w, "#include <stdint.h>");
    write_blank(w);
    emit_declarations(&e);
    write_line(w, "#endif");
}
