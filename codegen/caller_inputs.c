// The interface of a file whose launches read the inputs in the caller's memory (--inputs caller).
// A struct of pointers takes the place of tensors and their sizes.

#include <inttypes.h>

#include "work.h"

// The program that has all inputs: evaluation or inference.
static const Graph *whole_program(const Emitter *e)
{
    return e->in->train ? e->in->eval : e->program[e->program_count - 1].g;
}

bool reads_callers_inputs(const Emitter *e)
{
    Ports p = ports_of(whole_program(e));
    return p.input_count > 0 && is_given(&whole_program(e)->values[p.input[0]]);
}

// The bytes of an input of one call.
static int64_t whole_bytes(const Graph *g, ValueId v)
{
    return call_batch(g) * sample_bytes(g, v);
}

void declare_inputs(Emitter *e)
{
    Writer *w = &e->w;
    const Graph *g = whole_program(e);
    Ports p = ports_of(g);
    write_line(w, "// Inputs in memory that the device reads, each of BATCH samples and aligned to %d bytes.",
               GIVEN_ALIGNMENT);
    write_line(w, "// Launches read them there, so they must stay as they are until the stream has passed.");
    write_line(w, "// Samples past those of a call count in no result, but must be finite.");
    write_line(w, "typedef struct %s_inputs {", e->net);
    for (int i = 0; i < p.input_count; i++) {
        const Value *v = &g->values[p.input[i]];
        write_line(w, "    const %s *%s;  // %" PRId64 " bytes, %s", host_type(v->dtype),
                   identifier(e, v->name), whole_bytes(g, p.input[i]),
                   dims_text(e, v->shape, " "));
    }
    write_line(w, "} %s_inputs;", e->net);
    write_blank(w);
}

int input_parameters(Emitter *e, const Graph *g, const ValueId *inputs, int count,
                     const char **items)
{
    if (!reads_callers_inputs(e)) return parameters(e, g, inputs, count, "const ", items);
    items[0] = arena_print(e->arena, "const %s_inputs *in", e->net);
    items[1] = "size_t samples";
    return 2;
}

// True if inference reads input v of g.
static bool infers(const Emitter *e, const Graph *g, ValueId v)
{
    Ports all = {.input = {v}, .input_count = 1};
    ValueId plain[MAX_PORTS];
    return plain_inputs(e->in->infer, g, &all, plain) > 0;
}

static void check_input(Emitter *e, const Graph *g, ValueId v)
{
    const char *name = identifier(e, g->values[v].name);
    int align = g->values[v].classes > 0 ? dtype_bytes(g->values[v].dtype) : GIVEN_ALIGNMENT;
    const char *items[] = {
        "call",
        arena_print(e->arena, "\"%s: not BATCH samples in CUDA's memory, aligned to %d bytes\"",
                    name, align),
        arena_print(e->arena, "in->%s", name),
        arena_print(e->arena, "%" PRId64, whole_bytes(g, v)),
        arena_print(e->arena, "%d", align)};
    e->w.indent = 4;
    write_list(&e->w, arena_print(e->arena, "TRY(%s_given(c, ", e->net), items, 5, "));");
    e->w.indent = 0;
}

void emit_give(Emitter *e)
{
    Writer *w = &e->w;
    const Graph *g = whole_program(e);
    Ports p = ports_of(g);
    bool all_infer = true;
    for (int i = 0; i < p.input_count; i++) all_infer &= infers(e, g, p.input[i]);
    print_chunk(e, "net_batch");
    print_chunk(e, "net_given");
    write_line(w, "// Checks the inputs of a call, and sets them for its launches.  Inference reads no labels.");
    write_line(w, "static int %s_give(%s_context *c, const char *call, const %s_inputs *in, size_t samples,",
               e->net, e->net, e->net);
    write_line(w, "    bool infers)");
    write_line(w, "{");
    write_line(w, "    TRY(%s_batch(c, call, in, samples));", e->net);
    for (int i = 0; i < p.input_count; i++)
        if (infers(e, g, p.input[i])) check_input(e, g, p.input[i]);
    write_line(w, all_infer ? "    (void)infers; // reads all inputs" : "    if (infers) return %s_OK;",
               e->upper);
    for (int i = 0; i < p.input_count; i++)
        if (!infers(e, g, p.input[i])) check_input(e, g, p.input[i]);
    write_line(w, "    return %s_OK;", e->upper);
    write_line(w, "}");
    write_blank(w);
}

void write_slice_of_inputs(Emitter *e, const Work *work)
{
    const Graph *g = work->p->g;
    for (int i = 0; i < work->input_count; i++) {
        ValueId v = work->inputs[i];
        const char *name = identifier(e, g->values[v].name);
        write_line(&e->w, "        c->inputs.%s = in->%s + first * %" PRId64 ";", name, name,
                   sample_bytes(g, v) / dtype_bytes(g->values[v].dtype));
    }
}

// ---- the trainer --------------------------------------------------------------------------

void emit_main_inputs(Emitter *e)
{
    Writer *w = &e->w;
    const Graph *g = whole_program(e);
    Ports p = ports_of(g);
    const char *sizes[MAX_PORTS], *pointers[MAX_PORTS];
    if (!reads_callers_inputs(e)) return;
    for (int i = 0; i < p.input_count; i++) {
        sizes[i] = arena_print(e->arena, "%" PRId64, whole_bytes(g, p.input[i]));
        pointers[i] = arena_print(e->arena, "(const %s *)main_given[%d]",
                                  host_type(g->values[p.input[i]].dtype), i);
    }
    write_line(w, "// The trainer is the caller: it has memory of the device for a batch of each input.");
    write_line(w, "static unsigned char *main_given[%d];", p.input_count);
    write_list(w, "static const size_t main_given_bytes[] = {", sizes, p.input_count, "};");
    write_blank(w);
    write_line(w, "static %s_inputs main_in(void)", e->net);
    write_line(w, "{");
    write_list(w, "    return {", pointers, p.input_count, "};");
    write_line(w, "}");
    write_blank(w);
    static const ChunkEdit edits[] = {
        {"to the arena", "to the inputs"},
        {"net_stage(net_context *c, size_t offset", "main_fill(net_context *c, int i"},
        {"= c->arena + offset", "= main_given[i]"},
        {0, 0}};
    print_chunk_edited(e, "net_stage", edits);
    write_line(w, "static int main_take(int i, const void *from, size_t bytes)");
    write_line(w, "{");
    write_line(w, "    return main_fill(&main_context, i, main_given_bytes[i], from, bytes);");
    write_line(w, "}");
    write_blank(w);
}

void write_given_memory(Emitter *e)
{
    Writer *w = &e->w;
    int count = ports_of(whole_program(e)).input_count;
    write_line(w, "    for (int i = 0; i < %d; i++)", count);
    write_line(w, "        if (!main_given[i] &&");
    write_line(w, "            %s_check(&main_context, cudaMalloc((void **)&main_given[i], main_given_bytes[i]), -1,",
               e->net);
    write_line(w, "                     \"cudaMalloc\"))");
    write_line(w, "            return main_context.error.status;");
    write_line(w, "    const %s_inputs in = main_in();", e->net);
}

const char *input_text(Emitter *e, const Program *p, ValueId v)
{
    const PlanBuffer *buffers = p->plan->buffers;
    ValueId root = v;
    while (buffers[root].alias_of != NONE) root = buffers[root].alias_of;
    if (!buffer_is_given(&buffers[root])) return NULL;
    const char *text =
        arena_print(e->arena, "c->inputs.%s", identifier(e, p->g->values[root].name));
    int64_t start = buffers[v].offset - buffers[root].offset;
    if (start == 0) return text;
    return arena_print(e->arena, "%s + %" PRId64, text, start / dtype_bytes(buffers[v].dtype));
}
