// Converts the net's names to C identifiers.

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "../ir/base/unique_names.h"
#include "chunks.h"
#include "ports.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Words that no tensor may have as its name: the keywords of C++.
static const char *const words_of_cxx[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor",
    "bool", "break", "case", "catch", "char", "char16_t", "char32_t",
    "char8_t", "class", "co_await", "co_return", "co_yield", "compl",
    "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "decltype", "default", "delete", "do", "dynamic_cast",
    "double", "else", "enum", "explicit", "export", "extern", "false", "float",
    "for", "friend", "goto", "if", "inline", "int", "long", "mutable",
    "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator",
    "or", "or_eq", "private", "protected", "public", "register",
    "reinterpret_cast", "requires", "restrict", "return", "short", "signed",
    "sizeof", "static", "static_assert", "static_cast", "struct", "switch",
    "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid",
    "typename", "typeof", "union", "unsigned", "using", "virtual", "void", "volatile",
    "wchar_t", "while", "xor", "xor_eq",
};

// Also excluded: macros and types of headers, and words that steps and calls use.
static const char *const words_of_files[] = {
    "assert", "errno", "linux", "unix",
    "stdin", "stdout", "stderr", "real", "f16", "bf16", "Place", "Parameter", "Arena",
    "StateHeader", "bit", "c", "a", "samples", "stream", "header", "scored", "step_line",
    "inits", "averages", "tile", "state", "train", "eval", "infer", "given", "in", "status",
    "launched", "size_t", "int32_t", "int64_t", "uint8_t", "uint32_t", "uint64_t",
    "cudaStream_t", "cudaError_t", "cublasHandle_t", "dim3", "threadIdx",
    "blockIdx", "blockDim", "gridDim", "warpSize", "cudaGetLastError", "st_atime", "st_mtime",
    "st_ctime", "sa_handler", "sa_sigaction",
};

enum {
    CXX_COUNT = sizeof words_of_cxx / sizeof *words_of_cxx,
    FILES_COUNT = sizeof words_of_files / sizeof *words_of_files
};

static bool is_among(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(words[i], word)) return true;
    return false;
}

static bool is_reserved(const char *word)
{
    return is_among(word, words_of_cxx, CXX_COUNT) || is_among(word, words_of_files, FILES_COUNT);
}

// True for NAN, EOF, M_PI: each may be a macro of an included header.  Also true for words that
// begin like __global__, which the compiler reserves.
static bool is_like_a_macro(const char *word)
{
    int capitals = 0;
    if (word[0] == '_' && (word[1] == '_' || isupper((unsigned char)word[1])))
        return true;
    for (; *word; word++) {
        if (islower((unsigned char)*word)) return false;
        capitals += isupper((unsigned char)*word) != 0;
    }
    return capitals > 2;
}

const char *word_of(Emitter *e, const char *name)
{
    char *s = arena_print(e->arena, "%s", name);
    for (char *c = s; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    return s;
}

// True for x_bytes, the size of x if both are parameters of a call.
static bool is_size_of_another(const char *word)
{
    const size_t length = strlen(word), tail = strlen("_bytes");
    return length > tail && !strcmp(word + length - tail, "_bytes");
}

// True for digits_train or digits_fail, which the file of a net `digits` defines.
static bool is_function_of_net(const Emitter *e, const char *word)
{
    const size_t length = strlen(e->net);
    return !strncmp(word, e->net, length) && word[length] == '_';
}

// A word that can't be used gets a trailing underscore.  So does a word with trailing underscores
// that would otherwise collide with it: int_ and int.
const char *identifier(Emitter *e, const char *name)
{
    const char *s = word_of(e, name);
    char *stem = arena_print(e->arena, "%s", s);
    for (size_t end = strlen(stem); end > 0 && stem[end - 1] == '_';) stem[--end] = '\0';
    bool other = is_reserved(stem) || is_function_of_net(e, stem) ||
                  (is_accumulating(e->g) && !strcmp(stem, "first")) || is_size_of_another(stem) ||
                  is_like_a_macro(s);
    return other ? arena_print(e->arena, "%s_", s) : s;
}

// True if other names begin with this word and an underscore, such as the runtime's main_context
// and tally_figures, or X_OK of unistd.h.  Names that begin with net_ do not count, because they
// get the net's own name.
static bool begins_other_names(const char *word)
{
    size_t length = strlen(word);
    if (length == 1 && strchr("fFrRwWxX", *word)) return true;
    if (!strcmp(word, "main")) return true;
    if (!strcmp(word, "net")) return false;
    for (int i = 0; i < chunk_count; i++)
        for (const char *const *name = chunks[i].names; *name; name++)
            if (!strncmp(*name, word, length) && (*name)[length] == '_')
                return true;
    return false;
}

const char *net_word(Emitter *e, const char *name)
{
    const char *s = word_of(e, name);
    return begins_other_names(s) ? arena_print(e->arena, "%s_", s) : s;
}

const char *prefix_fault(const char *prefix)
{
    size_t length = strlen(prefix);
    if (length == 0 || length > 64 || !isalpha((unsigned char)*prefix) ||
        strspn(prefix, LETTERS "_0123456789") < length)
        return "is not a C identifier of at most 64 characters that begins with a letter";
    if (is_among(prefix, words_of_cxx, CXX_COUNT)) return "is a word of C++";
    if (begins_other_names(prefix))
        return "begins other names in emitted files or in C; take a longer one";
    return NULL;
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

const char *dims_text(Emitter *e, Shape shape, const char *separator)
{
    const char *text = "";
    for (int i = 0; i < shape.rank; i++)
        text = arena_print(e->arena, "%s%s%" PRId64, text, i ? separator : "",
                           shape.dim[i]);
    return text;
}

static bool is_state(const Value *v)
{
    return is_persistent(v->kind);
}

// ---- unique names ------------------------------------------------------------------

// Returns the names that the net may not use: the runtime's and the reserved words. There is room
// for `more`.
static Names *runtime_names(Emitter *e, int32_t more)
{
    Names *names = names_new(e->arena, more);
    for (int i = 0; i < chunk_count; i++)
        for (const char *const *name = chunks[i].names; *name; name++)
            names_take(names, *name, NONE);
    for (int i = 0; i < CXX_COUNT; i++) names_take(names, words_of_cxx[i], NONE);
    for (int i = 0; i < FILES_COUNT; i++) names_take(names, words_of_files[i], NONE);
    return names;
}

// Takes a unique identifier: different names of the net may give one (a.b and a_b). Also reserves
// it in e->taken, so that no shape gets it.
static const char *take_name(Emitter *e, Names *names, const char *name, ValueId v)
{
    const char *taken = names_take(names, identifier(e, name), v);
    if (names_find(e->taken, taken, strlen(taken)) == NONE)
        names_take(e->taken, taken, v);
    return taken;
}

// The program's steps see its own names, the state's and the runtime's at once, so all of them
// differ.  The state is named first and is the same in every program.
static void name_program(Emitter *e, Program *p)
{
    Names *names = runtime_names(e, p->g->value_count);
    p->place = NEW_ARRAY(e->arena, p->g->value_count, const char *);
    p->name = NEW_ARRAY(e->arena, p->g->value_count, const char *);
    for (int pass = 0; pass < 2; pass++)
        for (ValueId v = 0; v < p->g->value_count; v++) {
            const Value *value = &p->g->values[v];
            if (is_state(value) != (pass == 0)) continue;
            p->name[v] = take_name(e, names, value->name, v);
            p->place[v] = arena_print(e->arena, "%s::%s",
                                      pass ? p->space : "state", p->name[v]);
        }
}

void name_places(Emitter *e)
{
    int32_t values = 0;
    for (int i = 0; i < e->program_count; i++) values += e->program[i].g->value_count;
    e->taken = runtime_names(e, values);
    for (int i = 0; i < e->program_count; i++)
        name_program(e, &e->program[i]);
}
