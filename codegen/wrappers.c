// Section 5: the functions that the trainer calls with data.  They wrap the interface's calls
// around one context.  If the train section accumulates gradients of several batches, the trainer's
// batch is all of them, and a wrapper makes one call for each.

#include <inttypes.h>
#include <string.h>

#include "../ir/families/loss.h"
#include "work.h"

int64_t main_batch(const Graph *g)
{
    return call_batch(g) * (g->training.accumulate > 1 ? g->training.accumulate : 1);
}

int input_number(const Graph *g, const char *name)
{
    ValueId inputs[MAX_PORTS];
    int count = graph_inputs(g, inputs, MAX_PORTS);
    for (int i = 0; i < count; i++)
        if (!strcmp(g->values[inputs[i]].name, name)) return i;
    return NONE;
}

// All wrappers take the inputs of the last program, all_inputs.  Input i of the call is
// all_inputs[from[i]].
typedef struct Wrapper {
    const Program *p;
    const char    *call;
    const int     *from;
    int            inputs, outputs;
    ValueId        all_inputs[MAX_PORTS], all_outputs[MAX_PORTS];
} Wrapper;

// Sets items to a tensor of the call and its bytes: all of it, or from sample `first`.
static void give(Emitter *e, const Graph *g, ValueId v, const char *pointer, const char *bytes,
                 const char **items)
{
    int64_t sample = sample_bytes(g, v), elements = sample / dtype_bytes(g->values[v].dtype);
    items[0] = pointer;
    items[1] = bytes;
    if (g->training.accumulate <= 1) return;
    items[0] = arena_print(e->arena, "%s + first * %" PRId64, pointer, elements);
    items[1] = arena_print(e->arena, "samples * %" PRId64, sample);
}

// Returns the number of samples that the trainer gives.
static const char *samples_given(Emitter *e, const Wrapper *w)
{
    const Graph *g = e->program[e->program_count - 1].g;
    return arena_print(e->arena, "bytes[%d] / %" PRId64, w->from[0],
                       sample_bytes(g, w->all_inputs[w->from[0]]));
}

// Prints copies of the inputs to the memory that the launches read.
static void write_takes(Emitter *e, const Wrapper *wrapper)
{
    const Graph *g = e->program[e->program_count - 1].g;
    bool several = g->training.accumulate > 1;
    for (int i = 0; i < wrapper->inputs && reads_callers_inputs(e); i++) {
        int k = wrapper->from[i];
        int64_t sample = sample_bytes(g, wrapper->all_inputs[k]);
        if (several)
            write_line(&e->w, "TRY(main_take(%d, (const char *)inputs[%d] + first * %" PRId64
                       ", samples * %" PRId64 "));", k, k, sample, sample);
        else
            write_line(&e->w, "TRY(main_take(%d, inputs[%d], bytes[%d]));", k, k, k);
    }
}

static int list_items(Emitter *e, const Wrapper *w, const char **items)
{
    const Graph *g = e->program[e->program_count - 1].g;
    int count = 0;
    items[count++] = "&main_context";
    if (reads_callers_inputs(e)) {
        items[count++] = "&in";
        items[count++] = g->training.accumulate > 1 ? "samples" : samples_given(e, w);
    }
    for (int i = 0; i < w->inputs && !reads_callers_inputs(e); i++, count += 2)
        give(e, g, w->all_inputs[w->from[i]],
             arena_print(e->arena, "(const %s_input_%d *)inputs[%d]", w->call, i, w->from[i]),
             arena_print(e->arena, "bytes[%d]", w->from[i]), items + count);
    for (int i = 0; i < w->outputs; i++, count += 2)
        give(e, g, w->all_outputs[i],
             arena_print(e->arena, "(%s_output_%d *)outputs[%d]", w->call, i, i),
             arena_print(e->arena, "output_bytes[%d]", i), items + count);
    return count;
}

// Prints a loop with one call for each batch of samples.
static void write_batches(Emitter *e, const Wrapper *wrapper, const char **items, int count)
{
    Writer *w = &e->w;
    bool trains = wrapper->p->g->mode == TRAIN;
    write_line(w, "const size_t given = %s;", samples_given(e, wrapper));
    write_line(w, "int status = %s_OK;", e->upper);
    if (wrapper->outputs) write_line(w, "(void)output_bytes; // of as many samples");
    write_line(w, "for (size_t first = 0; first < given && !status; first += %s_BATCH) {", e->upper);
    w->indent = 8;
    write_line(w, "const size_t left = given - first, samples = left < %s_BATCH ? left : %s_BATCH;",
               e->upper, e->upper);
    const char *call = trains ? "accum" : wrapper->call;
    write_takes(e, wrapper);
    write_list(w, arena_print(e->arena, "status = %s_%s(", e->net, call), items, count, ");");
    w->indent = 4;
    write_line(w, "}");
    write_line(w, trains ? "return status ? status : %s_apply(&main_context);" : "return status;",
               e->net);
}

static void wrap(Emitter *e, const Wrapper *wrapper)
{
    Writer *w = &e->w;
    const char *items[4 * MAX_PORTS + 1];
    int count = list_items(e, wrapper, items);
    write_line(w, "static int main_%s(const void *const *inputs, const size_t *bytes%s)",
               wrapper->call, !strcmp(wrapper->call, "infer")
                                  ? ", void *const *outputs, const size_t *output_bytes" : "");
    write_line(w, "{");
    w->indent = 4;
    if (wrapper->p->g->mode != INFER && !wrapper->outputs)
        write_line(w, "main_figures_at = %s.offset;",
                   wrapper->p->place[find_metric_sums(wrapper->p->g)->results[0]]);
    if (reads_callers_inputs(e)) write_line(w, "const %s_inputs in = main_in();", e->net);
    if (e->g->training.accumulate > 1) write_batches(e, wrapper, items, count);
    else {
        write_takes(e, wrapper);
        write_list(w, arena_print(e->arena, "return %s_%s(", e->net, wrapper->call), items, count,
                   ");");
    }
    w->indent = 0;
    write_line(w, "}");
    write_blank(w);
}

// Prints functions that replay a whole training step as one graph launch.
static void emit_replay(Emitter *e, const Wrapper *wrapper)
{
    Writer *w = &e->w;
    const Graph *g = wrapper->p->g, *last = e->program[e->program_count - 1].g;
    int64_t whole = main_batch(last) * sample_bytes(last, wrapper->all_inputs[0]);
    print_chunk(e, "net_prepare");
    print_chunk(e, "net_replay");
    write_line(w, "static %s_graphs main_graphs;", e->net);
    write_blank(w);
    write_line(w, "static int main_prepare(const void *const *inputs, const size_t *bytes)");
    write_line(w, "{");
    write_line(w, "    return %s_prepare(&main_context, &main_graphs, inputs, bytes, main_train);",
               e->net);
    write_line(w, "}");
    write_blank(w);
    write_line(w, "static int main_replay(const void *const *inputs, const size_t *bytes)");
    write_line(w, "{");
    write_line(w, "    main_figures_at = %s.offset;",
               wrapper->p->place[find_metric_sums(g)->results[0]]);
    write_line(w, "    return %s_replay(&main_context, &main_graphs, inputs, bytes, %" PRId64
               ", main_train);", e->net, whole);
    write_line(w, "}");
    write_blank(w);
}

static void name_types(Emitter *e, const char *call, const Graph *g,
                       const ValueId *values, int count, const char *role)
{
    for (int i = 0; i < count; i++)
        write_line(&e->w, "typedef %s %s_%s_%d;",
                   host_type(g->values[values[i]].dtype), call, role, i);
}

void emit_wrappers(Emitter *e)
{
    const Program *last = &e->program[e->program_count - 1];
    ValueId inputs[MAX_PORTS];
    int count = graph_inputs(e->in->infer, inputs, MAX_PORTS);
    int same[MAX_PORTS], from[MAX_PORTS];
    for (int i = 0; i < MAX_PORTS; i++) same[i] = i;
    Wrapper wrapper = {.from = same};
    wrapper.inputs = graph_inputs(last->g, wrapper.all_inputs, MAX_PORTS);
    int outputs = graph_outputs(last->g, wrapper.all_outputs, MAX_PORTS);
    for (int i = 0; i < count; i++)
        from[i] = input_number(last->g,
                               e->in->infer->values[inputs[i]].name);
    name_types(e, "infer", e->in->infer, inputs, count, "input");
    name_types(e, "infer", last->g, wrapper.all_outputs, outputs, "output");
    if (e->in->train) {
        name_types(e, "train", last->g, wrapper.all_inputs, wrapper.inputs, "input");
        name_types(e, "evaluate", last->g, wrapper.all_inputs, wrapper.inputs, "input");
        write_blank(&e->w);
        wrapper.p = &e->program[0], wrapper.call = "train";
        wrap(e, &wrapper);
        emit_replay(e, &wrapper);
        wrapper.p = last, wrapper.call = "evaluate";
        wrap(e, &wrapper);
    }
    write_blank(&e->w);
    wrapper.p = last, wrapper.call = "infer", wrapper.from = from;
    wrapper.inputs = count, wrapper.outputs = outputs;
    wrap(e, &wrapper);
}
