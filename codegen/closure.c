// Which chunks of the runtime a file needs, printed in an order in which every
// name is defined before it is used.

#include <string.h>

#include "chunks.h"
#include "emitter.h"

static int find_chunk(const char *name)
{
    for (int i = 0; i < chunk_count; i++)
        for (const char *const *n = chunks[i].names; *n; n++)
            if (!strcmp(*n, name)) return i;
    return -1;
}

bool has_chunk(const char *name)
{
    return find_chunk(name) >= 0;
}

void skip_chunk(Emitter *e, const char *name)
{
    int i = find_chunk(name);
    if (i < 0) bug("the runtime has no %s", name);
    e->printed[i] = true;
}

static bool is_word_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

// A line with the net's name in the place of the prefixes net_ and NET_.
static void print_renamed(Emitter *e, const char *line)
{
    char before = 0;
    for (const char *at = line; *at;) {
        bool lower = !strncmp(at, "net_", 4), upper = !strncmp(at, "NET_", 4);
        if ((lower || upper) && !is_word_character(before)) {
            fprintf(e->w.out, "%s_", lower ? e->net : e->upper);
            at += 4;
            before = '_';
        } else {
            before = *at;
            fputc(*at++, e->w.out);
        }
    }
    fputc('\n', e->w.out);
}

static void print_number(Emitter *e, int i)
{
    if (e->printed[i]) return;
    e->printed[i] = true;
    for (const int *need = chunks[i].needs; *need >= 0; need++)
        print_number(e, *need);
    for (const char *const *line = chunks[i].lines; *line; line++)
        print_renamed(e, *line);
    fputc('\n', e->w.out);
    e->w.blank_lines = 1;
}

void print_chunk(Emitter *e, const char *name)
{
    int i = find_chunk(name);
    if (i < 0) bug("the runtime has no %s", name);
    print_number(e, i);
}

static void mark(bool *marked, int i)
{
    if (marked[i]) return;
    marked[i] = true;
    for (const int *need = chunks[i].needs; *need >= 0; need++)
        mark(marked, *need);
}

static void add_include(const char **list, int *count, const char *name)
{
    int at = 0;
    while (at < *count && strcmp(list[at], name) < 0) at++;
    if (at < *count && !strcmp(list[at], name)) return;
    memmove(list + at + 1, list + at, (size_t)(*count - at) * sizeof *list);
    list[at] = name;
    ++*count;
}

void print_includes(Emitter *e, const char *const *names, int count)
{
    bool *marked = NEW_ARRAY(e->arena, chunk_count, bool);
    const char *list[128];
    int include_count = 0;
    for (int i = 0; i < count; i++) {
        int chunk = find_chunk(names[i]);
        if (chunk < 0) bug("the runtime has no %s", names[i]);
        mark(marked, chunk);
    }
    for (int i = 0; i < chunk_count; i++)
        for (const char *const *s = chunks[i].includes; marked[i] && *s; s++)
            if (include_count < 128) add_include(list, &include_count, *s);
    for (int i = 0; i < include_count; i++)
        write_line(&e->w, "#include %s", list[i]);
}
