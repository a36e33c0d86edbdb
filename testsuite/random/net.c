// The text of a net that is drawn, and the front end's word on it.
#include "net.h"

#include <stdio.h>
#include <string.h>
#include "../../frontend/driver/input.h"

void add_line(Lines *lines, const char *line)
{
    if (lines->count == MOST_LINES)
        bug("a net of more than %d lines", MOST_LINES);
    lines->at[lines->count++] = line;
}

void add_drawn(Net *n, const char *what)
{
    if (n->drawn_count < MOST_DRAWN) n->drawn[n->drawn_count++] = what;
}

static void print_lines(const Lines *lines, FILE *out)
{
    for (int i = 0; i < lines->count; i++)
        fprintf(out, "    %s\n", lines->at[i]);
}

void print_net(const Net *n, FILE *out)
{
    fputs("net random {\n", out);
    print_lines(&n->inputs, out);
    print_lines(&n->body, out);
    print_lines(&n->ends, out);
    fputs("}\n", out);
    if (n->train.count == 0) return;
    fputs("\ntrain {\n", out);
    print_lines(&n->train, out);
    fputs("}\n", out);
}

Graph *try_net(const Net *n, Arena *arena, Mode mode)
{
    FrontendOptions options = { .mode = mode, .batch = n->batch, .real = F64 };
    Diag diag = { .arena = arena, .stream = fopen("/dev/null", "w") };
    FILE *out = fopen(n->path, "w");
    Input in;

    if (out == NULL || diag.stream == NULL) bug("can't write %s", n->path);
    print_net(n, out);
    fclose(out);
    bool good = input_open(&in, arena, &diag, n->path) &&
                diag.error_count == 0;
    Graph *g = good ? input_graph(&in, &options) : NULL;
    fclose(diag.stream);
    if (g != NULL) g->diag = NULL;
    return g;
}
