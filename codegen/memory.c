// Section 1, memory: every tensor's place in the arena, as constants that are
// at the same time the table a reader wants.  Offsets stand nowhere else.

#include <inttypes.h>
#include <string.h>

#include "emitter.h"

// What a reader would like to know beside the numbers.
static const char *remark(Emitter *e, const Program *p, const PlanBuffer *b)
{
    if (b->alias_of == NONE) return "";
    const char *how = !b->view ? "over" : b->rows > 0 ? "in" : "is";
    return arena_print(e->arena, ", %s %s", how, p->name[b->alias_of]);
}

static int name_width(const Program *p)
{
    int width = 0;
    for (int i = 0; i < p->plan->buffer_count; i++) {
        int length = (int)strlen(p->name[i]);
        if (length > width && length <= 40) width = length;
    }
    return width;
}

// How many digits an offset or a size can have.
static int digits(const Program *p)
{
    int count = 5;
    for (int64_t n = p->plan->arena_bytes; n > 99999; n /= 10) count++;
    return count;
}

static void place(Emitter *e, const Program *p, ValueId v, int width)
{
    const PlanBuffer *b = &p->plan->buffers[v];
    const char *live =
        b->persistent ? "   *   "
                      : arena_print(e->arena, "%3d-%-3d",
                                    p->first_step + b->first,
                                    p->first_step + b->last);
    const char *line = b->line > 0 ? arena_print(e->arena, ", line %d", b->line)
                                   : "";
    write_line(&e->w,
               "constexpr %-14s %-*s = {%*" PRId64 "};  // %*" PRId64
               "  %s  %s%s%s",
               arena_print(e->arena, "Place<%s>", c_type(e, b->dtype)), width, p->name[v],
               digits(p),
               b->offset, digits(p), b->bytes, live, dims_text(e, b->shape, " "), line,
               remark(e, p, b));
}

static void space(Emitter *e, const Program *p, const char *name, bool state)
{
    Writer *w = &e->w;
    write_line(w, "namespace %s {", name);
    int width = name_width(p);
    for (ValueId v = 0; v < p->g->value_count; v++) {
        Kind kind = p->g->values[v].kind;
        if (is_persistent(kind) == state && p->named[v])
            place(e, p, v, width);
    }
    write_line(w, "}");
    write_blank(w);
}

bool any_slice(const Emitter *e, int64_t rows)
{
    for (int i = 0; i < e->program_count; i++)
        for (ValueId v = 0; v < e->program[i].g->value_count; v++)
            if (e->program[i].plan->buffers[v].rows >= rows && e->program[i].named[v])
                return true;
    return false;
}

static void emit_header_room(Emitter *e)
{
    int room = header_figures(e->g);
    if (room == 4) return;
    const ChunkEdit edits[] = {{" 4 ", arena_print(e->arena, " %d ", room)}, {0, 0}};
    print_chunk_edited(e, "HEADER_FIGURES", edits);
}

void emit_memory(Emitter *e)
{
    Writer *w = &e->w;
    write_section(w, 1, "memory");
    write_line(w, "// Every tensor has a fixed place in one arena.  Two share bytes only where their");
    write_line(w, "// lives (first and last step) do not meet, or a launch works in place (over) or");
    write_line(w, "// both are the same values (is).  The state, alive at every step (*), is one prefix");
    write_line(w, "// of the arena and begins with its header of %" PRId64 " bytes.",
               value_bytes(&e->g->values[e->g->header]));
    if (any_slice(e, 1)) {
        write_line(w, "//");
        write_line(w, "// A slice is part of each row of what it is in.");
    }
    write_line(w, "//");
    write_line(w, "// After each place: bytes, first and last step, shape.");
    write_blank(w);
    write_line(w, "typedef %s real;", e->g->real == F64 ? "double" : "float");
    write_blank(w);
    if (e->g->map != e->g->real) print_chunk(e, c_type(e, e->g->map));
    emit_header_room(e);
    print_chunk(e, "Place");
    print_chunk(e, "Arena");
    space(e, &e->program[0], "state", true);
    for (int i = 0; i < e->program_count; i++)
        space(e, &e->program[i], e->program[i].space, false);
}
