// Prints the bodies of the interface's calls: a chain of calls, each of which may fail.  If the
// arena holds fewer samples than a call takes, a loop processes them in slices of the caller's
// memory.

#include <inttypes.h>
#include <string.h>

#include "work.h"

// Checks that a tensor consists of whole samples, of the same number as the others.
void chain_samples(Emitter *e, Chain *chain, const Graph *g, ValueId v,
                          const char *call)
{
    const char *name = identifier(e, g->values[v].name);
    chain->text[chain->count++] = arena_print(
        e->arena, "%s_samples(c, \"%s: %s\", %s, %s_bytes, %" PRId64 ", &given)",
        e->net, call, name, name, name, sample_bytes(g, v));
}

void chain_inputs(Emitter *e, Chain *chain, const Graph *g, const ValueId *inputs, int count,
                  const char *call)
{
    if (reads_callers_inputs(e)) {
        chain->text[chain->count++] =
            arena_print(e->arena, "%s_give(c, \"%s\", in, samples, %s)", e->net, call,
                        strcmp(call, "infer") ? "false" : "true");
        return;
    }
    for (int i = 0; i < count; i++) chain_samples(e, chain, g, inputs[i], call);
}

// Copies an input to its place in the arena.
void chain_stage(Emitter *e, Chain *chain, const Program *p, ValueId v,
                        const char *from, const char *bytes)
{
    chain->text[chain->count++] = arena_print(
        e->arena, "%s_stage(c, %s.offset, %" PRId64 ", %s, %s)", e->net,
        p->place[v], value_bytes(&p->g->values[v]), from, bytes);
}

void chain_steps(Emitter *e, Chain *chain, const Program *p,
                        const char *arguments)
{
    chain->text[chain->count++] = arena_print(e->arena, "%s_%s_steps(c%s)",
                                              e->net, p->space, arguments);
}

void chain_apply(Emitter *e, Chain *chain)
{
    chain->text[chain->count++] = arena_print(e->arena, "%s_apply_steps(c)", e->net);
}

void write_calls(Emitter *e, const char *const *calls, int count, const char *indent)
{
    for (int i = 0; i < count; i++) write_line(&e->w, "%sTRY(%s);", indent, calls[i]);
}

void write_chain(Emitter *e, const Chain *chain)
{
    write_calls(e, chain->text, chain->count - 1, "    ");
    write_line(&e->w, "    return %s;", chain->text[chain->count - 1]);
    write_line(&e->w, "}");
    write_blank(&e->w);
}

// Returns the pointer to a call's tensor and sets *bytes to its size.  Sliced: the pointer to
// sample `first`, and the bytes of `samples` samples.
static const char *part_of(Emitter *e, const Graph *g, ValueId v, bool sliced, const char **bytes)
{
    const char *name = identifier(e, g->values[v].name);
    int64_t sample = sample_bytes(g, v);
    *bytes = sliced ? arena_print(e->arena, "samples * %" PRId64, sample)
                    : arena_print(e->arena, "%s_bytes", name);
    int64_t elements = sample / dtype_bytes(g->values[v].dtype);
    if (!sliced) return name;
    return elements == 1 ? arena_print(e->arena, "%s + first", name)
                         : arena_print(e->arena, "%s + first * %" PRId64, name, elements);
}

// Appends copies of the inputs, the steps, and copies of the outputs.
static void chain_work(Emitter *e, Chain *chain, const Work *work, bool sliced)
{
    const Program *p = work->p;
    const char *bytes;
    for (int i = 0; i < work->input_count && !reads_callers_inputs(e); i++) {
        const char *from = part_of(e, p->g, work->inputs[i], sliced, &bytes);
        chain_stage(e, chain, p, work->inputs[i], from, bytes);
    }
    chain_steps(e, chain, p, work->arguments);
    for (int i = 0; i < work->output_count; i++) {
        ValueId v = work->outputs[i];
        const char *to = part_of(e, p->g, v, sliced, &bytes);
        chain->text[chain->count++] = arena_print(
            e->arena, "%s_fetch(c, %s, %s.offset, %s)", e->net, to, p->place[v], bytes);
    }
}

static bool is_sliced(const Program *p)
{
    return p->g->batch < call_batch(p->g);
}

// Prints a function that processes the work in slices.
void emit_slices(Emitter *e, const Work *work, const char *call)
{
    Writer *w = &e->w;
    const Graph *g = work->p->g;
    const char *items[4 * MAX_PORTS + 2];
    Chain chain = {.count = 0};
    int count = 0;
    if (!is_sliced(work->p)) return;
    bool given = reads_callers_inputs(e);
    items[count++] = arena_print(e->arena, "%s_context *c", e->net);
    if (given) items[count++] = arena_print(e->arena, "const %s_inputs *in", e->net);
    for (int i = given ? work->input_count : 0; i < work->input_count + work->output_count; i++) {
        bool is_input = i < work->input_count;
        ValueId v = is_input ? work->inputs[i] : work->outputs[i - work->input_count];
        items[count++] = arena_print(e->arena, "%s%s *%s", is_input ? "const " : "",
                                     host_type(g->values[v].dtype),
                                     identifier(e, g->values[v].name));
    }
    items[count++] = "size_t given";
    chain_work(e, &chain, work, true);
    write_line(w, "// Of the samples that are given, %" PRId64 " at a time.", g->batch);
    const char *head = arena_print(e->arena, "static int %s_%s_slices(", e->net, call);
    write_list(w, head, items, count, ")");
    write_line(w, "{");
    write_line(w, "    for (size_t first = 0; first < given; first += %" PRId64 ") {", g->batch);
    write_line(w, "        const size_t samples = given - first < %" PRId64 " ? given - first : %" PRId64 ";",
               g->batch, g->batch);
    if (given) write_slice_of_inputs(e, work);
    write_calls(e, chain.text, chain.count, "        ");
    write_line(w, "    }");
    write_line(w, "    return %s_OK;", e->upper);
    write_line(w, "}");
    write_blank(w);
}

// Appends the work to the call: the function for slices, or all of it at once.
void chain_all(Emitter *e, Chain *chain, const Work *work, const char *call)
{
    const Graph *g = work->p->g;
    bool given = reads_callers_inputs(e);
    const char *text = given ? ", in" : "";
    if (!is_sliced(work->p)) {
        chain_work(e, chain, work, false);
        return;
    }
    for (int i = given ? work->input_count : 0; i < work->input_count + work->output_count; i++) {
        bool is_input = i < work->input_count;
        ValueId v = is_input ? work->inputs[i] : work->outputs[i - work->input_count];
        text = arena_print(e->arena, "%s, %s", text, identifier(e, g->values[v].name));
    }
    chain->text[chain->count++] =
        arena_print(e->arena, "%s_%s_slices(c%s, given)", e->net, call, text);
}

// Returns the steps' argument for the number of samples: the slice's or the call's.
const char *samples_argument(const Program *p)
{
    return is_sliced(p) ? ", (long long)samples" : ", (long long)given";
}
