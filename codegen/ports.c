// Prints a net's inputs and outputs as parameters of C functions.

#include <inttypes.h>
#include <string.h>

#include "ports.h"

Ports ports_of(const Graph *g)
{
    Ports p;
    p.input_count = graph_inputs(g, p.input, MAX_PORTS);
    p.output_count = graph_outputs(g, p.output, MAX_PORTS);
    return p;
}

const char *host_type(DType dtype)
{
    static const char *const types[DTYPE_COUNT] = {"float", "double", "f16", "bf16", "int32_t",
                                                   "uint8_t", "int8_t"};
    return types[dtype];
}

// Sets items to "const uint8_t *image", "size_t image_bytes" and so on.
int parameters(Emitter *e, const Graph *g, const ValueId *values,
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

void function_head(Emitter *e, const char *name, const char *const *items,
                          int count, const char *tail)
{
    const char *all[4 * MAX_PORTS + 1];
    all[0] = arena_print(e->arena, "%s_context *c", e->net);
    memcpy(all + 1, items, (size_t)count * sizeof *items);
    write_list(&e->w, arena_print(e->arena, "int %s_%s(", e->net, name), all,
               count + 1, arena_print(e->arena, ")%s", tail));
}

// Inference lacks the inputs that only a loss or metric reads: they are labels.
int plain_inputs(const Graph *infer, const Graph *g, const Ports *p,
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

