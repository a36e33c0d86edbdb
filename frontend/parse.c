// Opens files and runs the grammar on each.  An included file is parsed at its
// include, by its own parser, which adds to the same tree.  A path is relative
// to the including file.
#define _POSIX_C_SOURCE 200809L

#include <string.h>
#include <sys/stat.h>
#include "compile.h"
#include "parse.h"
#include "parser.h"
#include "read_file.h"

// Bounds on includes; cycles are detected separately.
enum { MAX_INCLUDES = 50, MAX_FILES = 1000 };

// Returns the bytes that may still be read.
static size_t text_left(const Diag *diag)
{
    size_t left = MOST_TEXT;
    for (int32_t i = 0; i < diag->source_count; i++)
        left -= diag->sources[i].length < left ? diag->sources[i].length : left;
    return left;
}

// Parses one file.  False if it can't be read, with the reason in *why.
static bool parse_text(Arena *arena, Diag *diag, Ast *ast, OpenFile *file,
                       const char **why)
{
    Parse p = { .arena = arena, .diag = diag, .ast = ast, .file = file };
    size_t length;
    const char *text = read_text(arena, file->path, text_left(diag), &length,
                                 why);

    if (text == NULL) return false;
    p.source = diag_add_source(diag, file->path, text, length);
    scanner_open(&p, text, length);
    cnnc_parse(&p);
    scanner_close(&p);
    return true;
}

// Sets the device and inode of a file, if it exists.
static void identify(OpenFile *file)
{
    struct stat status;
    if (stat(file->path, &status) != 0) return;
    file->device = (uint64_t)status.st_dev;
    file->inode = (uint64_t)status.st_ino;
}

Ast *parse_file(Arena *arena, Diag *diag, const char *path, const char **why)
{
    Ast *ast = NEW(arena, Ast);
    OpenFile file = { .path = path };

    ast->arena = arena;
    ast->diag = diag;
    identify(&file);
    return parse_text(arena, diag, ast, &file, why) ? ast : NULL;
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

// Returns path relative to the folder of the including file.
static const char *beside(Parse *p, const char *path)
{
    const char *slash = strrchr(p->file->path, '/');
    if (slash == NULL || path[0] == '/') return path;
    return arena_print(p->arena, "%.*s%s", (int)(slash - p->file->path + 1),
                       p->file->path, path);
}

// True if the same file is open already, under any name.
static bool is_cycle(const OpenFile *file)
{
    const OpenFile *open = file->includer;
    while (open != NULL && (open->device != file->device ||
                            open->inode != file->inode))
        open = open->includer;
    return open != NULL && file->inode != 0;
}

static int depth_of(const OpenFile *file)
{
    int depth = 0;
    for (; file != NULL; file = file->includer) depth++;
    return depth;
}

// Reports a limit; no more files are read.
static void give_up(Parse *p, Pos pos, const char *why)
{
    error(p->diag, pos, "%s", why);
    p->ast->unreadable = p->ast->gave_up = true;
}

void include_file(Parse *p, const char *path, Pos pos)
{
    OpenFile file = { .path = beside(p, path), .includer = p->file };
    const char *why;

    // Once errors are no longer shown, an unreadable file would set the exit
    // status without a message.
    if (p->ast->gave_up || !shows_errors(p->diag)) return;
    if (!ends_in(path, ".inc")) {
        error(p->diag, pos, "the name of an included file ends in .inc");
        return;
    }
    identify(&file);
    if (is_cycle(&file))
        error(p->diag, pos, "'%s' includes itself", path);
    else if (depth_of(&file) > MAX_INCLUDES + 1)
        give_up(p, pos, arena_print(p->arena, "files are included to a depth "
                                    "of more than %d", MAX_INCLUDES));
    else if (p->diag->source_count > MAX_FILES)
        give_up(p, pos, arena_print(p->arena, "more than %d files are "
                                    "included", MAX_FILES));
    else if (!parse_text(p->arena, p->diag, p->ast, &file, &why)) {
        error(p->diag, pos, "can't read '%s': %s", file.path, why);
        p->ast->unreadable = true;
    }
}
