// A build tool: divides the runtime's files into chunks and prints them as C tables.  So cnnc
// contains its runtime and emits only the parts that a net uses.
//
//     embed FILE.cuh ... > chunks.c
//
// A chunk ends at a blank line outside braces; each #if must end with it.  It defines the names
// found at its top level: functions, structs, typedefs, usings, enumerators, macros.  It needs
// every other chunk whose name occurs in its code.
//
// The tool drops #pragma once and #include "...", which serve to compile the files alone.  It drops
// comments that stand alone, since they are for maintainers.  Every chunk of a file lists the
// file's #include <...>.  Two chunks that define the same name are an error, because the emitter
// could not choose between them.

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CHUNKS = 2048, MAX_NAMES = 64, MAX_INCLUDES = 16, MAX_FILES = 256 };

typedef struct Piece {
    char **lines;
    char  *names[MAX_NAMES];
    char **words;               // every identifier of its code
    int    line_count, name_count, word_count;
    int    file;
} Piece;

typedef struct File {
    const char *name;
    char       *includes[MAX_INCLUDES];
    int         include_count;
} File;

static Piece pieces[MAX_CHUNKS];
static int   piece_count;
static File  files[MAX_FILES];
static int   file_count;

static _Noreturn void fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "embed: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    exit(1);
}

static void *grow(void *array, int count, size_t size)
{
    if (count & (count - 1)) return array;
    array = realloc(array, (size_t)(count ? 2 * count : 1) * size);
    if (!array) fail("out of memory");
    return array;
}

static char *copy(const char *text, size_t length)
{
    char *s = malloc(length + 1);
    if (!s) fail("out of memory");
    memcpy(s, text, length);
    s[length] = 0;
    return s;
}

static void add_line(Piece *p, const char *line)
{
    p->lines = grow(p->lines, p->line_count, sizeof *p->lines);
    p->lines[p->line_count++] = copy(line, strlen(line));
}

// ---- tokens -------------------------------------------------------------------

// A cursor over a chunk's code.  Tokens are identifiers, numbers and single characters; comments
// and literals are skipped.
typedef struct Tokens {
    const char *at;
    const char *text;           // the token
    int         length;
    bool        at_line_start;  // only blanks precede it on its line
} Tokens;

static void skip_literal(Tokens *t)
{
    char quote = *t->at++;
    while (*t->at && *t->at != quote) t->at += t->at[0] == '\\' ? 2 : 1;
    if (*t->at) t->at++;
}

static bool next(Tokens *t)
{
    t->at_line_start = t->text == NULL;
    for (;;) {
        // The text ends with a zero byte.
        // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult)
        if (*t->at == '\n') t->at_line_start = true;
        if (isspace((unsigned char)*t->at)) t->at++;
        else if (t->at[0] == '/' && t->at[1] == '/')
            t->at += strcspn(t->at, "\n");
        else if (t->at[0] == '/' && t->at[1] == '*') {
            const char *end = strstr(t->at + 2, "*/");
            t->at = end ? end + 2 : t->at + strlen(t->at);
        } else if (*t->at == '"' || *t->at == '\'') skip_literal(t);
        else break;
    }
    t->text = t->at;
    if (!*t->at) return false;
    if (isalnum((unsigned char)*t->at) || *t->at == '_')
        while (isalnum((unsigned char)*t->at) || *t->at == '_') t->at++;
    else
        t->at++;
    t->length = (int)(t->at - t->text);
    return true;
}

static bool is(const Tokens *t, const char *word)
{
    return (size_t)t->length == strlen(word) &&
           !strncmp(t->text, word, t->length);
}

static bool is_word(const Tokens *t)
{
    return isalpha((unsigned char)*t->text) || *t->text == '_';
}

// ---- names that a chunk defines -----------------------------------------------------

static void add_name(Piece *p, const char *text, int length)
{
    for (int i = 0; i < p->name_count; i++)
        if ((int)strlen(p->names[i]) == length &&
            !strncmp(p->names[i], text, length))
            return;
    if (p->name_count == MAX_NAMES) fail("a chunk with too many names");
    p->names[p->name_count++] = copy(text, length);
}

static void skip_balanced(Tokens *t, char open, char close)
{
    for (int depth = 1; depth && next(t);)
        depth += (*t->text == open) - (*t->text == close);
}

static bool is_attribute(const Tokens *t)
{
    return is(t, "__launch_bounds__") || is(t, "__attribute__") ||
           is(t, "alignas") || is(t, "__align__") || is(t, "decltype");
}

static void enumerators(Piece *p, Tokens *t)
{
    bool wants_name = true;
    while (next(t) && *t->text != '}') {
        if (*t->text == '(') skip_balanced(t, '(', ')');
        else if (is_word(t) && wants_name) {
            add_name(p, t->text, t->length);
            wants_name = false;
        } else if (*t->text == ',') wants_name = true;
    }
}

// Reads one definition, from its first token to the ; or } that ends it.
static void definition(Piece *p, Tokens *t)
{
    const char *last = NULL;    // the latest identifier
    int length = 0;
    bool named = false, is_typedef = false, is_enum = false;
    do {
        if (is(t, "template")) {
            next(t);
            skip_balanced(t, '<', '>');
        } else if (is(t, "typedef")) is_typedef = true;
        else if (is(t, "enum")) is_enum = true;
        else if (is_attribute(t)) {
            next(t);
            skip_balanced(t, '(', ')');
        } else if (is_word(t)) {
            last = t->text;
            length = t->length;
        } else if (*t->text == '<') skip_balanced(t, '<', '>');
        else if (*t->text == '(' && !is_typedef) {
            if (last && !named) add_name(p, last, length);
            named = true;
            skip_balanced(t, '(', ')');
        } else if (*t->text == '=' || *t->text == '[' || *t->text == ':') {
            if (last && !named) add_name(p, last, length);
            named = true;
        } else if (*t->text == '{') {
            if (last && !named && !is(&(Tokens){.text = last, .length = length},
                                      "enum"))
                add_name(p, last, length);
            named = !is_typedef;
            if (is_enum) enumerators(p, t);
            else skip_balanced(t, '{', '}');
            const char *rest = t->at + strspn(t->at, " ");
            if (*rest != ';' && !is_typedef) return;
        } else if (*t->text == ';') {
            if (last && (!named || is_typedef)) add_name(p, last, length);
            return;
        }
    } while (next(t));
}

static void directive(Piece *p, Tokens *t)
{
    next(t);
    bool define = is(t, "define");
    if (define && next(t)) add_name(p, t->text, t->length);
    // Skips to the end of the line, continuation lines included.
    while (*t->at && *t->at != '\n') t->at += t->at[0] == '\\' && t->at[1] ? 2 : 1;
}

static char *joined(const Piece *p)
{
    size_t length = 1;
    for (int i = 0; i < p->line_count; i++) length += strlen(p->lines[i]) + 1;
    char *text = malloc(length), *end = text;
    if (!text) fail("out of memory");
    for (int i = 0; i < p->line_count; i++)
        end += sprintf(end, "%s\n", p->lines[i]);
    *end = 0;
    return text;
}

static void read_piece(Piece *p)
{
    char *text = joined(p);
    Tokens t = {.at = text};
    while (next(&t)) {
        if (*t.text == '#' && t.at_line_start) directive(p, &t);
        else definition(p, &t);
    }
    t = (Tokens){.at = text};
    while (next(&t)) {
        if (!is_word(&t)) continue;
        p->words = grow(p->words, p->word_count, sizeof *p->words);
        p->words[p->word_count++] = copy(t.text, t.length);
    }
    free(text);
}

// ---- files ------------------------------------------------------------------------

static int depth_change(const char *line)
{
    int depth = 0;
    Tokens t = {.at = line};
    while (next(&t)) depth += (*t.text == '{') - (*t.text == '}');
    return depth;
}

// Handles #pragma once and #include; true if the line belongs to no chunk.
static bool preamble(File *file, const char *line)
{
    if (!strncmp(line, "#pragma once", 12)) return true;
    if (strncmp(line, "#include", 8)) return false;
    const char *open = strchr(line, '<'), *close = strchr(line, '>');
    if (open && close) {
        if (file->include_count == MAX_INCLUDES) fail("too many includes");
        file->includes[file->include_count++] =
            copy(open, (size_t)(close - open) + 1);
    }
    return true;
}

static void read_file(const char *path)
{
    FILE *in = fopen(path, "r");
    if (!in) fail("%s: can't be read", path);
    if (file_count == MAX_FILES) fail("too many files");
    File *file = &files[file_count++];
    const char *slash = strrchr(path, '/');
    file->name = slash ? slash + 1 : path;
    char line[1024];
    int depth = 0, conditions = 0;
    Piece *piece = NULL;
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = 0;
        if (preamble(file, line)) continue;
        if (!*line && depth == 0) {
            if (conditions) fail("%s: a chunk ends before its #endif", path);
            piece = NULL;
            continue;
        }
        if (!piece) {
            if (piece_count == MAX_CHUNKS) fail("too many chunks");
            piece = &pieces[piece_count++];
            piece->file = file_count - 1;
        }
        add_line(piece, line);
        depth += depth_change(line);
        conditions += !strncmp(line, "#if", 3) - !strncmp(line, "#endif", 6);
    }
    if (depth) fail("%s: braces do not match", path);
    fclose(in);
}

// ---- output --------------------------------------------------------------------------

static int definer(const char *word, int except)
{
    for (int i = 0; i < piece_count; i++)
        for (int j = 0; i != except && j < pieces[i].name_count; j++)
            if (!strcmp(pieces[i].names[j], word)) return i;
    return -1;
}

static void print_string(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') putchar('\\');
        putchar(*s);
    }
    putchar('"');
}

static void print_strings(const char *what, int number, char **strings,
                          int count)
{
    printf("static const char *const %s_%d[] = {\n", what, number);
    for (int i = 0; i < count; i++) {
        printf("    ");
        print_string(strings[i]);
        printf(",\n");
    }
    printf("    0};\n");
}

static void print_needs(int number)
{
    const Piece *p = &pieces[number];
    bool *printed = calloc((size_t)piece_count, sizeof *printed);
    if (!printed) fail("out of memory");
    printf("static const int needs_%d[] = {", number);
    for (int i = 0; i < p->word_count; i++) {
        bool own = false;
        for (int j = 0; j < p->name_count; j++)
            own |= !strcmp(p->names[j], p->words[i]);
        int of = own ? -1 : definer(p->words[i], number);
        if (of >= 0 && !printed[of]) printf("%d, ", of);
        if (of >= 0) printed[of] = true;
    }
    printf("-1};\n");
    free(printed);
}

static void check_unique(void)
{
    for (int i = 0; i < piece_count; i++)
        for (int j = 0; j < pieces[i].name_count; j++) {
            int other = definer(pieces[i].names[j], i);
            if (other >= 0)
                fail("%s and %s both define %s", files[pieces[i].file].name,
                     files[pieces[other].file].name, pieces[i].names[j]);
        }
}

// Moves chunks without a name to the end of the table and reduces the count.
static void drop_essays(void)
{
    int kept = 0;
    for (int i = 0; i < piece_count; i++) {
        if (!pieces[i].name_count) continue;
        Piece essay = pieces[kept];
        pieces[kept++] = pieces[i];
        if (kept <= i) pieces[i] = essay;
    }
    piece_count = kept;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) read_file(argv[i]);
    for (int i = 0; i < piece_count; i++) read_piece(&pieces[i]);
    drop_essays();
    check_unique();
    printf("// Made by embed from the runtime's files.\n#include \"chunks.h\"\n");
    for (int i = 0; i < file_count; i++)
        print_strings("includes", i, files[i].includes, files[i].include_count);
    for (int i = 0; i < piece_count; i++) {
        print_strings("names", i, pieces[i].names, pieces[i].name_count);
        print_strings("lines", i, pieces[i].lines, pieces[i].line_count);
        print_needs(i);
    }
    printf("const Chunk chunks[] = {\n");
    for (int i = 0; i < piece_count; i++)
        printf("    {\"%s\", names_%d, lines_%d, needs_%d, includes_%d},\n",
               files[pieces[i].file].name, i, i, i, pieces[i].file);
    printf("};\nconst int chunk_count = %d;\n", piece_count);
    return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
