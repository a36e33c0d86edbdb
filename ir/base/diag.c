// Diagnostics in the format of gcc:
//
//     digits.cnn:5:14: error: there is no operator "conf"
//         5 |     x = x -> conf(16, 3)
//           |              ^~~~
//           |              conv
//
// Columns count characters (code points of UTF-8), as in Pos.  A terminal
// expands a tab to the next multiple of 8.  So the quoted line and the line
// under it are written with spaces.
//
// Every message passes through message(), which writes it or keeps it as data.
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "diag.h"

enum { MAX_ERRORS = 20, TAB = 8, MAX_QUOTE = 1000 };

// Finds the lines of a text, so that diagnostics can quote them.  A text that
// ends with a newline has an empty last line, where the end of the file is
// reported.
int32_t diag_add_source(Diag *diag, const char *name, const char *text,
                        size_t length)
{
    Source source = { .name = name, .text = text, .length = length };
    int32_t capacity = 0;

    if (length > INT32_MAX) bug("%s: a source of 2 GiB or more", name);
    for (size_t start = 0; start <= length;) {
        source.line_start =
            arena_grow(diag->arena, source.line_start, &capacity,
                       (int64_t)source.line_count + 1, sizeof(int32_t));
        source.line_start[source.line_count++] = (int32_t)start;
        const char *end = start < length
            ? memchr(text + start, '\n', length - start) : NULL;
        start = end != NULL ? (size_t)(end - text) + 1 : length + 1;
    }
    diag->sources = arena_grow(diag->arena, diag->sources,
                               &diag->source_capacity, diag->source_count + 1,
                               sizeof(Source));
    diag->sources[diag->source_count] = source;
    return diag->source_count++;
}

const char *source_line(const Source *source, int32_t line, int32_t *length)
{
    if (line < 1 || line > source->line_count) {
        *length = 0;
        return "";
    }
    int32_t start = source->line_start[line - 1];
    int32_t end = line < source->line_count ? source->line_start[line] - 1
                                            : (int32_t)source->length;
    if (end > start && source->text[end - 1] == '\r') end--;
    *length = end - start;
    return source->text + start;
}

// ---- the quoted line and the line under it ----------------------------------

static bool continues(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;   // not the first byte of UTF-8
}

// Writes up to limit characters of a line; if stream is NULL, only measures
// them.  Returns the terminal columns that they take.
static int32_t write_line(FILE *stream, const char *text, int32_t length,
                          int32_t limit)
{
    // Continuation bytes of a character take no column.  Control characters are
    // replaced, to protect the terminal.
    int32_t width = 0, count = 0;

    for (int32_t i = 0; i < length; i++) {
        bool first = !continues(text[i]) || i == 0;
        if (first && ++count > limit) break;
        int32_t step = !first ? 0 : text[i] == '\t' ? TAB - width % TAB : 1;
        width += step;
        if (stream == NULL) continue;
        if (text[i] == '\t')
            fprintf(stream, "%*s", (int)step, "");
        else
            fputc((unsigned char)text[i] < ' ' ? '?' : text[i], stream);
    }
    return width;
}

// Returns the source of pos, or NULL if it has no place.
static const Source *source_of(const Diag *diag, Pos pos)
{
    bool known = pos.file >= 0 && pos.file < diag->source_count;
    return known ? &diag->sources[pos.file] : NULL;
}

// Returns the terminal columns before pos, in its line.
static int32_t columns_before(const char *text, int32_t length, Pos pos)
{
    int32_t width = write_line(NULL, text, length, pos.column - 1);
    int32_t characters = 0;
    for (int32_t i = 0; i < length; i++)
        characters += !continues(text[i]) || i == 0;
    // A position past the end of the line points at the space after it.
    return pos.column - 1 > characters ? width + 1 : width;
}

// Writes ^~~~ under the range, at least the caret, at most to the line's end.
static void write_caret(const Diag *diag, const char *text, int32_t length,
                        Pos pos)
{
    int32_t before = columns_before(text, length, pos);
    int64_t last = (int64_t)pos.column - 1 + pos.length;
    int32_t until = write_line(NULL, text, length,
                               last > length ? length : (int32_t)last);

    fprintf(diag->stream, "      | %*s%s^", (int)before, "",
            diag->color ? "\33[1;32m" : "");
    for (int32_t i = before + 1; i < until; i++) fputc('~', diag->stream);
    fprintf(diag->stream, "%s\n", diag->color ? "\33[m" : "");
}

// Quotes the line with gcc's margin, and writes the caret.
static void quote(const Diag *diag, Pos pos)
{
    const Source *source = source_of(diag, pos);
    if (source == NULL || pos.line < 1 || pos.line > source->line_count) return;

    int32_t length;
    const char *text = source_line(source, pos.line, &length);
    // Lines that no screen can show are not quoted.
    if (length > MAX_QUOTE) return;
    fprintf(diag->stream, "%5" PRId32 " | ", pos.line);
    write_line(diag->stream, text, length, length);
    fputc('\n', diag->stream);
    write_caret(diag, text, length, pos);
}

// ---- messages ---------------------------------------------------------------

// Writes the place of a message; without a position, only the file.
static void write_place(const Diag *diag, Pos pos)
{
    const Source *source = source_of(diag, pos);
    fputs(source != NULL ? source->name : "cnnc", diag->stream);
    if (pos.line > 0)
        fprintf(diag->stream, ":%" PRId32 ":%" PRId32, pos.line, pos.column);
    fputs(": ", diag->stream);
}

static void write_message(const Diag *diag, MessageKind kind, Pos pos,
                          const char *format, va_list args)
{
    static const struct { const char *name, *color; } kinds[] = {
        [MESSAGE_ERROR] = { "error", "\33[31m" },
        [MESSAGE_WARNING] = { "warning", "\33[35m" },
        [MESSAGE_NOTE] = { "note", "\33[36m" },
    };
    const char *bold = diag->color ? "\33[1m" : "";
    const char *plain = diag->color ? "\33[m" : "";

    fputs(bold, diag->stream);
    write_place(diag, pos);
    fprintf(diag->stream, "%s%s: %s%s", diag->color ? kinds[kind].color : "",
            kinds[kind].name, plain, bold);
    vfprintf(diag->stream, format, args);
    fprintf(diag->stream, "%s\n", plain);
    quote(diag, pos);
}

// A note with a position is about the message before it, and so is any note
// after an error.
static bool is_about_last(const Messages *kept, MessageKind kind, Pos pos)
{
    return kind == MESSAGE_NOTE && kept->last != NULL &&
           (pos.line > 0 || kept->last->kind == MESSAGE_ERROR);
}

// Sources move when one is added, so a message keeps a copy.
static const Source *keep_source(const Diag *diag, const Source *source)
{
    Source *kept = NEW(diag->arena, Source);
    *kept = *source;
    return kept;
}

static void keep(const Diag *diag, MessageKind kind, Pos pos,
                 const char *format, va_list args)
{
    Messages *kept = diag->kept;
    Message *new = NEW(diag->arena, Message);
    const Source *source = source_of(diag, pos);
    *new = (Message){ .kind = kind, .pos = pos,
                      .text = arena_vprint(diag->arena, format, args) };
    if (source != NULL) new->source = keep_source(diag, source);
    if (is_about_last(kept, kind, pos)) {
        if (kept->last_note != NULL) kept->last_note->next = new;
        else kept->last->notes = new;
        kept->last_note = new;
        return;
    }
    if (kept->last != NULL) kept->last->next = new;
    else kept->first = new;
    kept->last = new;
    kept->last_note = NULL;
}

static void message(const Diag *diag, MessageKind kind, Pos pos,
                    const char *format, va_list args)
{
    if (diag->kept != NULL) keep(diag, kind, pos, format, args);
    else write_message(diag, kind, pos, format, args);
}

void command_message(Diag *diag, MessageKind kind, const char *format, ...)
{
    va_list args;
    if (diag->quiet) return;
    va_start(args, format);
    if (diag->kept != NULL) {
        keep(diag, kind, (Pos){ .file = -1 }, format, args);
    } else {
        fputs(kind == MESSAGE_WARNING ? "cnnc: warning: " : "cnnc: ",
              diag->stream);
        vfprintf(diag->stream, format, args);
        fputc('\n', diag->stream);
    }
    va_end(args);
}

Diag diag_apart(const Diag *diag)
{
    return (Diag){ .arena = diag->arena, .stream = diag->stream,
                   .kept = diag->kept, .color = diag->color };
}

// True after MAX_ERRORS errors: later ones are counted but not shown, nor are
// their notes.
static bool is_silent(const Diag *diag)
{
    return diag->quiet || diag->error_count > MAX_ERRORS;
}

bool shows_errors(const Diag *diag)
{
    return !diag->quiet && diag->error_count < MAX_ERRORS;
}

void error(Diag *diag, Pos pos, const char *format, ...)
{
    if (++diag->error_count == MAX_ERRORS + 1)
        command_message(diag, MESSAGE_NOTE, "more than %d errors; the rest are "
                        "not shown", MAX_ERRORS);
    if (is_silent(diag)) return;

    va_list args;
    va_start(args, format);
    message(diag, MESSAGE_ERROR, pos, format, args);
    va_end(args);
}

static bool has_warned(const Diag *diag, Pos pos)
{
    for (int32_t i = 0; i < diag->warned_count; i++)
        if (memcmp(&diag->warned[i], &pos, sizeof pos) == 0) return true;
    return false;
}

void warning(Diag *diag, Pos pos, const char *format, ...)
{
    if (is_silent(diag) || has_warned(diag, pos)) return;
    diag->warned = arena_grow(diag->arena, diag->warned, &diag->warned_capacity,
                              (int64_t)diag->warned_count + 1,
                              sizeof *diag->warned);
    diag->warned[diag->warned_count++] = pos;
    va_list args;
    va_start(args, format);
    message(diag, MESSAGE_WARNING, pos, format, args);
    va_end(args);
}

void note(Diag *diag, Pos pos, const char *format, ...)
{
    if (is_silent(diag)) return;
    va_list args;
    va_start(args, format);
    message(diag, MESSAGE_NOTE, pos, format, args);
    va_end(args);
}

void detail(Diag *diag, const char *format, ...)
{
    va_list args;
    if (is_silent(diag)) return;
    va_start(args, format);
    const char *line = arena_vprint(diag->arena, format, args);
    va_end(args);
    if (diag->kept == NULL) {
        fprintf(diag->stream, "  %s\n", line);
        return;
    }
    Message *last = diag->kept->last_note != NULL ? diag->kept->last_note
                                                  : diag->kept->last;
    last->text = arena_print(diag->arena, "%s\n  %s", last->text, line);
}

void fixit(Diag *diag, Pos pos, const char *replacement)
{
    const Source *source = source_of(diag, pos);
    if (is_silent(diag) || source == NULL || pos.line < 1) return;
    if (diag->kept != NULL) {
        Message *last = diag->kept->last;
        last->fixit = arena_copy(diag->arena, replacement, strlen(replacement));
        last->fixit_pos = pos;
        last->fixit_source = keep_source(diag, source);
        return;
    }

    int32_t length;
    const char *text = source_line(source, pos.line, &length);
    if (length > MAX_QUOTE) return;
    fprintf(diag->stream, "      | %*s%s%s%s\n",
            (int)columns_before(text, length, pos), "",
            diag->color ? "\33[32m" : "", replacement,
            diag->color ? "\33[m" : "");
}

_Noreturn void bug(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fputs("cnnc: internal error: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(70);
}

// ---- misspelt words ---------------------------------------------------------

enum { LONGEST_WORD = 63 };

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

// True if both are the same letter, in any case.
static bool is_alike(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

// Returns the Damerau-Levenshtein distance of a and b: the number of letters to
// insert, delete, change or swap with a neighbour.  No swapped pair is edited
// again.  row[i % 3] has the distances of a's first i letters.
static int edit_distance(const char *a, int a_length, const char *b,
                         int b_length)
{
    int row[3][LONGEST_WORD + 1];

    for (int j = 0; j <= b_length; j++) row[0][j] = j;
    for (int i = 1; i <= a_length; i++) {
        int *now = row[i % 3], *above = row[(i + 2) % 3];
        now[0] = i;
        for (int j = 1; j <= b_length; j++) {
            now[j] = min_int(above[j], now[j - 1]) + 1;
            now[j] = min_int(now[j],
                             above[j - 1] + !is_alike(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && is_alike(a[i - 1], b[j - 2]) &&
                is_alike(a[i - 2], b[j - 1]))
                now[j] = min_int(now[j], row[(i + 1) % 3][j - 2] + 1);
        }
    }
    return row[a_length % 3][b_length];
}

const char *nearest_name(const char *word, const char *const *names, int count)
{
    size_t length = strlen(word);
    const char *nearest = NULL;
    if (length > LONGEST_WORD) return NULL;

    // A later name must be strictly nearer, so the first of equals wins.
    int limit = (int)length / 3;
    for (int i = 0; i < count; i++) {
        size_t other = strlen(names[i]);
        if (other > LONGEST_WORD) continue;
        int distance = edit_distance(word, (int)length, names[i], (int)other);
        if (distance > limit || (nearest != NULL && distance == limit))
            continue;
        nearest = names[i];
        limit = distance;
    }
    return nearest;
}
