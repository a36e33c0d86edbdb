// Weights as constants (--weights), and the call that copies them into the state.

#include <string.h>

#include "../ir/dtype.h"
#include "emitter.h"

// A string of bytes: compilers read it ten times as fast as a list of numbers.
typedef struct Bytes {
    FILE *out;
    int   columns;              // of the line so far; 0: none has begun
    bool  open_escape;          // the escape before would take a digit that follows
} Bytes;

enum { LONGEST_LINE = 96 };

static void end_line(Bytes *b)
{
    if (b->columns > 0) fputs("\"\n", b->out);
    b->columns = 0;
    b->open_escape = false;
}

static void print_byte(Bytes *b, unsigned char byte)
{
    bool plain = byte >= ' ' && byte <= '~' && !strchr("\"\\?", byte) &&
                 !(b->open_escape && byte >= '0' && byte <= '9');
    if (b->columns == 0) b->columns = fprintf(b->out, "    \"");
    char text[4] = {'\\'};
    int width = plain ? 0 : 1;
    if (plain) text[width++] = (char)byte;
    for (int shift = 6; !plain && shift >= 0; shift -= 3)
        if (byte >> shift || shift == 0) text[width++] = (char)('0' + (byte >> shift & 7));
    fwrite(text, 1, (size_t)width, b->out);
    b->open_escape = !plain && width < 4;
    b->columns += width;
    if (b->columns >= LONGEST_LINE) end_line(b);
}

// Prints the bytes of a number, as the net stores it; hosts are little-endian.
static void print_number(Bytes *b, double number, DType type)
{
    unsigned char bytes[sizeof number];
    float single = (float)number;
    uint16_t half = half_bits(type, number);
    if (type == F64) memcpy(bytes, &number, sizeof number);
    else if (type == I8) bytes[0] = (unsigned char)(int8_t)number;
    else if (is_half(type)) memcpy(bytes, &half, sizeof half);
    else memcpy(bytes, &single, sizeof single);
    for (int64_t i = 0; i < dtype_bytes(type); i++) print_byte(b, bytes[i]);
}

static void print_weights(Emitter *e, Kind kind)
{
    Bytes b = {.out = e->w.out};
    for (ValueId v = 0; v < e->g->value_count; v++) {
        const Value *value = &e->g->values[v];
        if (value->kind != kind) continue;
        const Tensor *t = tensors_find(e->in->weights, value->name);
        write_line(&e->w, "    // %s", value->name);
        for (int64_t i = 0; i < t->count; i++) print_number(&b, t->data[i], value->dtype);
        end_line(&b);
    }
}

void emit_trained(Emitter *e)
{
    Writer *w = &e->w;
    if (!e->in->weights) return;
    write_line(w, "// The weights of %s: the bytes of each parameter, then of each running statistic.",
               in_comment(e, e->in->weights_name));
    write_line(w, "static const unsigned char trained[] =");
    print_weights(e, PARAM);
    print_weights(e, STATISTIC);
    write_line(w, "    ;");
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
