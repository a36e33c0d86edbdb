// Values of expressions: constructors, names of kinds, and conversion from text
// that is not part of a program, such as -D and defaults of tables.
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "resolve.h"

const char *const kind_words[] = {
    "nothing", "a value of the net", "an integer", "a float",
    "true or false", "dimensions", "a word", "a string", "a list",
};

Datum no_datum(void)
{
    return (Datum){ .kind = POISON };
}

Datum int_datum(int64_t i)
{
    return (Datum){ .kind = INT, .i = i };
}

Datum tensor_datum(ValueId value)
{
    if (value == NONE) return no_datum();
    return (Datum){ .kind = TENSOR, .value = value };
}

Datum float_datum(double f)
{
    return (Datum){ .kind = FLOAT, .f = f };
}

Datum bool_datum(bool b)
{
    return (Datum){ .kind = BOOL, .i = b };
}

// Reads an integer (3) or dimensions (3x5).
static bool dims_of_text(const char *text, Datum *datum)
{
    *datum = (Datum){ .kind = DIMS };
    for (char *end; datum->count < 4; text = end + 1) {
        if (*text < '0' || *text > '9') return false;
        errno = 0;
        datum->dim[datum->count++] = strtoll(text, &end, 10);
        if (errno != 0) return false;
        if (*end == '\0') break;
        if (*end != 'x') return false;
    }
    if (datum->count == 1) *datum = int_datum(datum->dim[0]);
    return true;
}

bool is_word_of(const char *word, const char *words)
{
    size_t length = strlen(word);
    for (const char *at = words; at != NULL && *at != '\0';) {
        size_t next = strcspn(at, "|");
        if (next == length && strncmp(at, word, length) == 0) return true;
        at += next + (at[next] == '|');
    }
    return false;
}

// True if an argument of some operator can be this word.
static bool is_word(const char *text)
{
    if (is_word_of(text, "same|valid")) return true;
    for (int i = 0; i < OP_COUNT; i++)
        for (const ArgSpec *arg = ops[i]->args;
             arg != NULL && arg->name != NULL; arg++)
            if (takes_words(arg) && is_word_of(text, arg->fallback))
                return true;
    return false;
}

bool datum_of_text(const char *text, Datum *datum)
{
    char *end;

    if (dims_of_text(text, datum)) return true;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        *datum = bool_datum(text[0] == 't');
        return true;
    }
    if (is_word(text)) {
        *datum = (Datum){ .kind = WORD, .text = text };
        return true;
    }
    if (strcmp(text, "[]") == 0) {
        static const List none;
        *datum = (Datum){ .kind = LIST, .list = &none };
        return true;
    }
    if (text[0] == '\0' || strspn(text, "0123456789+-.eE") != strlen(text))
        return false;
    errno = 0;
    *datum = int_datum(strtoll(text, &end, 10));
    if (*end == '\0') return errno == 0;
    *datum = float_datum(strtod(text, &end));
    bool is_tiny = fabs(datum->f) < DBL_MIN &&
                   strcspn(text, "123456789") < strcspn(text, "eE");
    return *end == '\0' && isfinite(datum->f) && !is_tiny;
}

static const char *text_of_list(Arena *arena, const List *list)
{
    const char *text = "";
    for (int i = 0; i < list->count; i++)
        text = arena_print(arena, "%s%s%.17g", text, i ? ", " : "",
                           list->at[i]);
    return arena_print(arena, "[%s]", text);
}

static const char *text_of_dims(Arena *arena, const Datum *datum)
{
    const char *text = "";
    for (int i = 0; i < datum->count; i++)
        text = arena_print(arena, "%s%s%" PRId64, text, i ? "x" : "",
                           datum->dim[i]);
    return text;
}

const char *text_of_datum(Arena *arena, Datum datum)
{
    switch (datum.kind) {
    case INT:   return arena_print(arena, "%" PRId64, datum.i);
    case FLOAT: return arena_print(arena, "%.17g", datum.f);
    case BOOL:  return datum.i ? "true" : "false";
    case DIMS:  return text_of_dims(arena, &datum);
    case WORD:  return datum.text;
    case TEXT:  return arena_print(arena, "\"%s\"", datum.text);
    case LIST:  return text_of_list(arena, datum.list);
    case POISON:
    case TENSOR: break;
    }
    return "";
}
