// From the net's names to C identifiers.

#include <ctype.h>
#include <string.h>

#include "emitter.h"

// Words that a tensor's name may not be: C++'s, and what steps use unqualified.
// Tensors live in namespaces of their own, so nothing else can collide.
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
    "c", "a", "samples", "stream", "header", "scored",
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
    if (dtype == e->g->real) return "real";
    static const char *const types[DTYPE_COUNT] = {"float", "double", "int32_t",
                                                   "uint8_t"};
    return types[dtype];
}

static bool is_state(const Value *v)
{
    return v->kind == PARAM || v->kind == STATE;
}

const char *place_name(const Program *p, ValueId v)
{
    return strstr(p->place[v], "::") + 2;
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

void name_places(Emitter *e)
{
    for (int i = 0; i < e->program_count; i++) {
        Program *p = &e->program[i];
        Taken taken = {.mask = 63};
        while (taken.mask < 4u * (uint32_t)p->g->value_count)
            taken.mask = 2 * taken.mask + 1;
        taken.slot = NEW_ARRAY(e->arena, taken.mask + 1, const char *);
        p->place = NEW_ARRAY(e->arena, p->g->value_count, const char *);
        for (ValueId v = 0; v < p->g->value_count; v++) {
            const Value *value = &p->g->values[v];
            const char *space = is_state(value) ? "state" : p->space;
            const char *full = arena_print(e->arena, "%s::%s", space,
                                           identifier(e, value->name));
            p->place[v] = take_unique(e, &taken, full);
        }
    }
}
