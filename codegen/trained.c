// Weights as constants (--weights), and the call that copies them into the state.

#include <inttypes.h>
#include <string.h>

#include "emitter.h"

enum { WORDS_OF_LINE = 7 };

// Prints the bits of a number, as the net stores it.
static void print_bits(Emitter *e, double number)
{
    if (e->g->real == F64) {
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        fprintf(e->w.out, "0x%016" PRIx64 ",", bits);
    } else {
        float rounded = (float)number;
        uint32_t bits;
        memcpy(&bits, &rounded, sizeof bits);
        fprintf(e->w.out, "0x%08" PRIx32 ",", bits);
    }
}

static void print_weights(Emitter *e, Kind kind)
{
    int in_line = e->g->real == F64 ? WORDS_OF_LINE / 2 + 1 : WORDS_OF_LINE + 1;
    for (ValueId v = 0; v < e->g->value_count; v++) {
        const Value *value = &e->g->values[v];
        if (value->kind != kind) continue;
        const Tensor *t = tensors_find(e->in->weights, value->name);
        write_line(&e->w, "    // %s", value->name);
        for (int64_t i = 0; i < t->count; i++) {
            fputs(i % in_line == 0 ? "    " : " ", e->w.out);
            print_bits(e, t->data[i]);
            if (i % in_line == in_line - 1 || i + 1 == t->count) fputc('\n', e->w.out);
        }
    }
}

void emit_trained(Emitter *e)
{
    Writer *w = &e->w;
    if (!e->in->weights) return;
    write_line(w, "// The weights of %s: the bits of each parameter, then of each running statistic.",
               in_comment(e, e->in->weights_name));
    write_line(w, "static const %s trained[] = {", e->g->real == F64 ? "uint64_t" : "uint32_t");
    print_weights(e, PARAM);
    print_weights(e, STATISTIC);
    write_line(w, "};");
    write_blank(w);
    print_chunk(e, "net_take_trained");
    write_line(w, "int %s_init_trained(%s_context *c)", e->net, e->net);
    write_line(w, "{");
    write_line(w, "    TRY(%s_take_trained(c));", e->net);
    if (e->in->train && e->g->training.average != 0)
        write_line(w, "    TRY(%s_start_averages(c));", e->net);
    write_line(w, "    return %s_wait(c);", e->net);
    write_line(w, "}");
    write_blank(w);
}

void declare_trained(Emitter *e)
{
    if (!e->in->weights) return;
    write_line(&e->w, "// Sets parameters and running statistics to the weights in the file; right after init.  Waits.");
    write_line(&e->w, "int %s_init_trained(%s_context *c);", e->net, e->net);
}
