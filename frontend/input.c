// A file ending in .ir is the text of a graph; anything else is a program.
#include <errno.h>
#include <string.h>
#include "input.h"
#include "parse.h"

static bool is_graph_text(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".ir") == 0;
}

bool input_open(Input *in, Arena *arena, Diag *diag, const char *path)
{
    bool read;

    *in = (Input){ .arena = arena, .diag = diag, .path = path };
    if (is_graph_text(path)) {
        size_t length;
        const char *text = read_text(arena, path, &length);
        read = text != NULL;
        if (read) in->source = diag_add_source(diag, path, text, length);
    } else {
        in->ast = parse_file(arena, diag, path);
        read = in->ast != NULL;
    }
    if (!read)
        fprintf(stderr, "cnnc: can't read '%s': %s\n", path, strerror(errno));
    return read && !(in->ast != NULL && in->ast->unreadable);
}

Graph *input_graph(const Input *in, const FrontendOptions *options)
{
    if (in->diag->error_count > 0) return NULL;
    return in->ast != NULL ? resolve(in->ast, options)
                           : graph_read(in->arena, in->diag, in->source);
}
