// From the net's names to C identifiers.

#include <ctype.h>
#include <string.h>

#include "chunks.h"
#include "ports.h"

// Words that a tensor's name may not be: C++'s, and what steps say themselves.
static const char *const reserved[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor",
    "bool", "break", "case", "catch", "char", "class", "compl", "concept",
    "const", "constexpr", "continue", "decltype", "default", "delete", "do",
    "double", "else", "enum", "explicit", "export", "extern", "false", "float",
    "for", "friend", "goto", "if", "inline", "int", "long", "mutable",
    "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator",
    "or", "or_eq", "private", "protected", "public", "register", "requires",
    "return", "short", "signed", "sizeof", "static", "struct", "switch",
    "template", "this", "throw", "true", "try", "typedef", "typeid",
    "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
    "wchar_t", "while", "xor", "xor_eq", "assert", "errno", "linux", "unix",
    "stdin", "stdout", "stderr", "real", "Place", "Arena", "Header", "bit",
    "c", "a", "samples", "stream", "header", "scored", "step_line",
    "init_limits", "state", "train", "eval", "infer",
};

static bool is_reserved(const char *word)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (!strcmp(reserved[i], word)) return true;
    return false;
}

const char *identifier(Emitter *e, const char *name)
{
    char *s = arena_print(e->arena, "%s", name);
    for (char *c = s; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    return is_reserved(s) ? arena_print(e->arena, "%s_", s) : s;
}

const char *upper_case(Arena *arena, const char *text)
{
    char *s = arena_print(arena, "%s", text);
    for (char *c = s; *c; c++) *c = (char)toupper((unsigned char)*c);
    return s;
}

const char *c_type(const Emitter *e, DType dtype)
{
    return dtype == e->g->real ? "real" : host_type(dtype);
}

static bool is_state(const Value *v)
{
    return v->kind == PARAM || v->kind == STATE;
}

// ---- unique names: an open table of those taken ----------------------------------

typedef struct Taken {
    const char **slot;
    uint32_t     mask;
} Taken;

static uint32_t hash_text(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++) h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
}

static bool take(Taken *t, const char *name)
{
    uint32_t i = hash_text(name) & t->mask;
    while (t->slot[i]) {
        if (!strcmp(t->slot[i], name)) return false;
        i = (i + 1) & t->mask;
    }
    t->slot[i] = name;
    return true;
}

// Names that differ as the net's may meet as identifiers (a.b and a_b).
static const char *take_unique(Emitter *e, Taken *t, const char *name)
{
    const char *unique = name;
    for (int number = 2; !take(t, unique); number++)
        unique = arena_print(e->arena, "%s_%d", name, number);
    return unique;
}

// The program's steps see its own names, the state's and the runtime's at once,
// so all of them differ.  The state is named first: alike in every program.
static void name_program(Emitter *e, Program *p)
{
    Taken taken = {.mask = 4095};
    while (taken.mask < 4u * (uint32_t)p->g->value_count)
        taken.mask = 2 * taken.mask + 1;
    taken.slot = NEW_ARRAY(e->arena, taken.mask + 1, const char *);
    for (int i = 0; i < chunk_count; i++)
        for (const char *const *name = chunks[i].names; *name; name++)
            take(&taken, *name);
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        take(&taken, reserved[i]);
    p->place = NEW_ARRAY(e->arena, p->g->value_count, const char *);
    p->name = NEW_ARRAY(e->arena, p->g->value_count, const char *);
    for (int pass = 0; pass < 2; pass++)
        for (ValueId v = 0; v < p->g->value_count; v++) {
            const Value *value = &p->g->values[v];
            if (is_state(value) != (pass == 0)) continue;
            p->name[v] = take_unique(e, &taken, identifier(e, value->name));
            p->place[v] = arena_print(e->arena, "%s::%s",
                                      pass ? p->space : "state", p->name[v]);
        }
}

void name_places(Emitter *e)
{
    for (int i = 0; i < e->program_count; i++)
        name_program(e, &e->program[i]);
}
