// Finds the chunks of the runtime that a file needs.  Prints them in an order
// that defines every name before its use.

#include <stdio.h>
#include <string.h>

#include "../ir/base/unique_names.h"
#include "chunks.h"
#include "emitter.h"

// Overloads share one name, which stands for the first chunk that defines it.
Names *chunk_names(Arena *arena)
{
    Names *names = names_new(arena, 0);
    for (int i = 0; i < chunk_count; i++)
        for (const char *const *n = chunks[i].names; *n; n++)
            if (names_find(names, *n, strlen(*n)) == NONE) names_take(names, *n, i);
    return names;
}

static int find_chunk(const Emitter *e, const char *name)
{
    int i = names_find(e->chunk_names, name, strlen(name));
    if (i == NONE) bug("the runtime has no %s", name);
    return i;
}

void skip_chunk(Emitter *e, const char *name)
{
    e->printed[find_chunk(e, name)] = true;
}

static bool is_word_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

// Returns the line with the net's name in place of the prefixes net_ and NET_.
// Sets *longer to the columns by which that moves the last open parenthesis.
static const char *rename_prefixes(Emitter *e, const char *line, int *longer)
{
    char *out = arena_alloc(e->arena, 4 * strlen(line) * strlen(e->net) + 1, 1);
    int length = 0, depth = 0;
    int shift[64] = {0};        // columns, for the parenthesis at each depth
    char before = 0;
    for (const char *at = line; *at;) {
        bool lower = !strncmp(at, "net_", 4), upper = !strncmp(at, "NET_", 4);
        if ((lower || upper) && !is_word_character(before)) {
            length += sprintf(out + length, "%s_", lower ? e->net : e->upper);
            at += 4;
            before = '_';
        } else {
            before = out[length++] = *at++;
            if (before == '(' && depth < 63) shift[++depth] = length - (int)(at - line);
            if (before == ')' && depth > 0) depth--;
        }
    }
    *longer = shift[depth];
    return out;
}

static int open_parentheses(const char *line)
{
    int depth = 0;
    for (; *line; line++) depth += (*line == '(') - (*line == ')');
    return depth;
}

// Prints renamed lines in their original layout: text under an open parenthesis
// moves with it, and the backslashes of a macro keep their column.
static void print_lines(Emitter *e, const char *const *lines)
{
    int depth = 0, shift = 0, longer;
    for (; *lines; lines++) {
        const char *text = rename_prefixes(e, *lines, &longer);
        int length = (int)strlen(text), column = (int)strlen(*lines);
        if (length > 1 && text[length - 1] == '\\') {
            for (length--; length > 0 && text[length - 1] == ' ';) length--;
            fprintf(e->w.out, "%-*.*s\\\n", column - 1, length, text);
            continue;
        }
        fprintf(e->w.out, "%*s%s\n", depth > 0 ? shift : 0, "", text);
        int change = open_parentheses(*lines);
        if (depth == 0 && change > 0) shift = longer;
        depth += change;
    }
}

static void print_number(Emitter *e, int i)
{
    if (e->printed[i]) return;
    e->printed[i] = true;
    for (const int *need = chunks[i].needs; *need >= 0; need++)
        print_number(e, *need);
    print_lines(e, chunks[i].lines);
    fputc('\n', e->w.out);
    e->w.blank_lines = 1;
}

void print_chunk(Emitter *e, const char *name)
{
    print_number(e, find_chunk(e, name));
}

void print_if_chunk(Emitter *e, const char *name, int length)
{
    int i = names_find(e->chunk_names, name, (size_t)length);
    if (i != NONE) print_number(e, i);
}

// Returns the line with the edit applied if it contains edit->old, and sets
// *found.
static const char *edited(Emitter *e, const char *line, const ChunkEdit *edit, bool *found)
{
    const char *at = strstr(line, edit->old);
    if (!at) return line;
    *found = true;
    return arena_print(e->arena, "%.*s%s%s", (int)(at - line), line, edit->put,
                       at + strlen(edit->old));
}

void print_chunk_edited(Emitter *e, const char *name, const ChunkEdit *edits)
{
    int i = find_chunk(e, name), count = 0;
    e->printed[i] = true;
    for (const int *need = chunks[i].needs; *need >= 0; need++)
        print_number(e, *need);
    while (chunks[i].lines[count]) count++;
    const char **lines = NEW_ARRAY(e->arena, count + 1, const char *);
    for (int k = 0; k < count; k++) lines[k] = chunks[i].lines[k];
    for (const ChunkEdit *edit = edits; edit->old; edit++) {
        bool found = false;
        for (int k = 0; k < count; k++) lines[k] = edited(e, lines[k], edit, &found);
        if (!found) bug("%s has no \"%s\"", name, edit->old);
    }
    print_lines(e, lines);
    fputc('\n', e->w.out);
    e->w.blank_lines = 1;
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
    const char *list[128] = {0};
    int include_count = 0;
    for (int i = 0; i < count; i++) mark(marked, find_chunk(e, names[i]));
    for (int i = 0; i < chunk_count; i++)
        for (const char *const *s = chunks[i].includes; marked[i] && *s; s++)
            if (include_count < 128) add_include(list, &include_count, *s);
    for (int i = 0; i < include_count; i++)
        write_line(&e->w, "#include %s", list[i]);
}
