// Section 1, memory: the offset of every tensor in the arena.  The constants are also the reader's
// table; offsets appear nowhere else.

#include <inttypes.h>
#include <string.h>

#include "../ir/dtype.h"
#include "emitter.h"

// Returns the remark on a buffer that aliases another; "" for others.
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

// Returns the largest number of digits of an offset or a size, at least 5.
static int digits(const Program *p)
{
    int count = 5;
    for (int64_t n = p->plan->arena_bytes; n > 99999; n /= 10) count++;
    return count;
}

// ---- the moments of parameters ----------------------------------------------

// The names of the net's optimizer moments.  In the emitted file the moments m and v of
// conv1.weight are members of its place.  Averages are not moments, because the eval program reads
// them as parameters.
enum { MAX_MOMENTS = 4 };
typedef struct Moments {
    const char *name[MAX_MOMENTS];
    int         count;
    ValueId   (*of)[MAX_MOMENTS];       // of each value: its moments, or NONE
} Moments;

// Returns the name of a moment, which ends its value's name, or NULL.
static const char *moment_name(const Graph *g, ValueId v)
{
    const Value *moment = &g->values[v];
    if (moment->kind != STATE || moment->state_of == NONE || moment->init.kind == INIT_COPY ||
        is_pruned_bits(g, v))
        return NULL;
    const char *owner = g->values[moment->state_of].name;
    size_t length = strlen(owner);
    bool begins = !strncmp(moment->name, owner, length) && moment->name[length] == '.';
    const char *name = moment->name + length + 1;
    return begins && !strpbrk(name, ".") ? name : NULL;
}

// Returns the number of the moment's name, which may be new; NONE if there are too many names.
static int number_name(Moments *moments, const char *name)
{
    int k = 0;
    while (k < moments->count && strcmp(moments->name[k], name)) k++;
    if (k == MAX_MOMENTS) return NONE;
    if (k == moments->count) moments->name[moments->count++] = name;
    return k;
}

static Moments moments_of(Emitter *e, const Program *p)
{
    size_t count = (size_t)p->g->value_count;
    Moments moments = {.of = arena_alloc(e->arena, count, sizeof *moments.of)};
    for (ValueId v = 0; v < p->g->value_count; v++)
        for (int k = 0; k < MAX_MOMENTS; k++) moments.of[v][k] = NONE;
    for (ValueId v = 0; v < p->g->value_count; v++) {
        const char *name = p->named[v] ? moment_name(p->g, v) : NULL;
        int k = name ? number_name(&moments, name) : NONE;
        if (k == NONE) continue;
        ValueId parameter = p->g->values[v].state_of;
        const PlanBuffer *own = &p->plan->buffers[parameter], *b = &p->plan->buffers[v];
        ValueId *moment = &moments.of[parameter][k];
        if (*moment == NONE && b->bytes == own->bytes && b->dtype == own->dtype) *moment = v;
    }
    return moments;
}

// True if the parameter has all of these moments.
static bool has_moments(const Program *p, ValueId v, const Moments *moments)
{
    for (int k = 0; k < moments->count; k++)
        if (moments->of[v][k] == NONE) return false;
    return moments->count > 0 && p->g->values[v].dtype == p->g->real;
}

// Renames moments as members of their parameter's place and sets is_member for them.
static void name_moments(Emitter *e, Program *p, const Moments *moments, bool *is_member)
{
    for (ValueId v = 0; v < p->g->value_count; v++) {
        if (!is_weight(p->g->values[v].kind) || !has_moments(p, v, moments)) continue;
        for (int k = 0; k < moments->count; k++) {
            ValueId moment = moments->of[v][k];
            is_member[moment] = true;
            p->name[moment] = arena_print(e->arena, "%s.%s", p->name[v], moments->name[k]);
            p->place[moment] = arena_print(e->arena, "state::%s", p->name[moment]);
        }
    }
}

static void print_parameter_type(Emitter *e, const Moments *moments)
{
    const char *members = "";
    for (int k = 0; k < moments->count; k++)
        members = arena_print(e->arena, "%s%s %s", members, k ? "," : "", moments->name[k]);
    write_line(&e->w, "// Parameter: its place, and the places of the optimizer's moments.");
    write_line(&e->w, "struct Parameter : Place<real> { Place<real>%s; };", members);
    write_blank(&e->w);
}

// ---- places -----------------------------------------------------------------

// Returns "{256}", or with moments "{{256}, {512}}".
static const char *offsets_text(Emitter *e, const Program *p, ValueId v, const Moments *moments)
{
    const char *text = arena_print(e->arena, "{%*" PRId64 "}", digits(p),
                                   p->plan->buffers[v].offset);
    if (!has_moments(p, v, moments)) return text;
    for (int k = 0; k < moments->count; k++) {
        ValueId moment = moments->of[v][k];
        text = arena_print(e->arena, "%s, {%*" PRId64 "}", text, digits(p),
                           p->plan->buffers[moment].offset);
    }
    return arena_print(e->arena, "{%s}", text);
}

static void place(Emitter *e, const Program *p, ValueId v, int width, const Moments *moments)
{
    const PlanBuffer *b = &p->plan->buffers[v];
    bool is_parameter = is_weight(p->g->values[v].kind) && has_moments(p, v, moments);
    const char *live =
        b->persistent ? "   *   "
                      : arena_print(e->arena, "%3d-%-3d",
                                    p->first_step + b->first,
                                    p->first_step + b->last);
    const char *line = b->line > 0 ? arena_print(e->arena, ", line %d", b->line)
                                   : "";
    write_line(&e->w,
               "constexpr %-14s %-*s = %s;  // %*" PRId64 "  %s  %s%s%s",
               is_parameter ? "Parameter"
                            : arena_print(e->arena, "Place<%s>", c_type(e, b->dtype)),
               width, p->name[v], offsets_text(e, p, v, moments), digits(p), b->bytes, live,
               dims_text(e, b->shape, " "), line, remark(e, p, b));
}

static void space(Emitter *e, const Program *p, const char *name, const Moments *moments,
                  const bool *is_member)
{
    bool is_state = is_member != NULL;
    Writer *w = &e->w;
    write_line(w, "namespace %s {", name);
    int width = name_width(p);
    for (ValueId v = 0; v < p->g->value_count; v++) {
        if (!p->named[v] || is_persistent(p->g->values[v].kind) != is_state) continue;
        if ((is_member && is_member[v]) || input_text(e, p, v)) continue;
        place(e, p, v, width, moments);
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
        write_line(w, "// A slice is part of each row of the tensor that contains it.");
    }
    write_line(w, "//");
    write_line(w, "// After each place: bytes, first and last step, shape.");
    write_blank(w);
    write_line(w, "typedef %s real;", e->g->real == F64 ? "double" : "float");
    write_blank(w);
    if (is_half(e->g->map)) print_chunk(e, c_type(e, e->g->map));
    emit_header_room(e);
    print_chunk(e, "Place");
    print_chunk(e, "Arena");
    static const Moments none = {.count = 0};
    Program *first = &e->program[0];
    Moments moments = moments_of(e, first);
    bool *is_member = NEW_ARRAY(e->arena, first->g->value_count + 1, bool);
    name_moments(e, first, &moments, is_member);
    if (moments.count > 0) print_parameter_type(e, &moments);
    space(e, first, "state", &moments, is_member);
    for (int i = 0; i < e->program_count; i++)
        space(e, &e->program[i], e->program[i].space, &none, NULL);
}
