// Opens files and drives the grammar over each.  An included file is parsed
// where it is named, by a parser of its own that adds to the same tree; it is
// looked for beside the file that names it.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "compile.h"
#include "parse.h"
#include "parser.h"

// Deeper is a mistake; cycles are found before.
enum { MAX_INCLUDES = 50 };

const char *read_text(Arena *arena, const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    int32_t capacity = 0;
    size_t got = 1;

    if (file == NULL) return NULL;
    for (*length = 0; got > 0; *length += got) {
        text = arena_grow(arena, text, &capacity, (int64_t)*length + 4096, 1);
        got = fread(text + *length, 1, (size_t)capacity - *length, file);
    }
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) return NULL;
    bool is_marked = *length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
    if (is_marked) *length -= 3;
    return is_marked ? text + 3 : text;
}

static bool parse_text(Arena *arena, Diag *diag, Ast *ast, OpenFile *file)
{
    Parse p = { .arena = arena, .diag = diag, .ast = ast, .file = file };
    size_t length;
    const char *text = read_text(arena, file->path, &length);

    if (text == NULL) return false;
    p.source = diag_add_source(diag, file->path, text, length);
    scanner_open(&p, text, length);
    cnnc_parse(&p);
    scanner_close(&p);
    return true;
}

Ast *parse_file(Arena *arena, Diag *diag, const char *path)
{
    Ast *ast = NEW(arena, Ast);
    OpenFile file = { .path = path };

    ast->arena = arena;
    ast->diag = diag;
    return parse_text(arena, diag, ast, &file) ? ast : NULL;
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

// path as seen from the folder of the file that names it.
static const char *beside(Parse *p, const char *path)
{
    const char *slash = strrchr(p->file->path, '/');
    if (slash == NULL || path[0] == '/') return path;
    return arena_print(p->arena, "%.*s%s", (int)(slash - p->file->path + 1),
                       p->file->path, path);
}

// Whether path is open already; also where too many are.
static bool is_cycle(const OpenFile *file, const char *path)
{
    int depth = 0;
    for (; file != NULL; file = file->includer)
        if (strcmp(file->path, path) == 0 || ++depth > MAX_INCLUDES)
            return true;
    return false;
}

void include_file(Parse *p, const char *path, Pos pos)
{
    OpenFile file = { .path = beside(p, path), .includer = p->file };

    if (!ends_in(path, ".inc")) {
        error(p->diag, pos, "the name of an included file ends in .inc");
        return;
    }
    if (is_cycle(p->file, file.path)) {
        error(p->diag, pos, "'%s' includes itself", path);
        return;
    }
    if (!parse_text(p->arena, p->diag, p->ast, &file)) {
        error(p->diag, pos, "can't read '%s': %s", file.path, strerror(errno));
        p->ast->unreadable = true;
    }
}
