// Lines, lists and section heads; see writer.h.

#include "writer.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

void write_line(Writer *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(w->out, "%*s", w->indent, "");
    vfprintf(w->out, format, list);
    fputc('\n', w->out);
    va_end(list);
    w->blank_lines = 0;
}

void write_blank(Writer *w)
{
    if (!w->blank_lines) fputc('\n', w->out);
    w->blank_lines = 1;
}

void write_list(Writer *w, const char *head, const char *const *items,
                int count, const char *tail)
{
    int margin = w->indent + (int)strlen(head);
    int column = margin;
    fprintf(w->out, "%*s%s", w->indent, "", head);
    for (int i = 0; i < count; i++) {
        const char *end = i + 1 < count ? "," : tail;
        int length = (int)(strlen(items[i]) + strlen(end));
        if (i > 0 && column + 1 + length > w->width) {
            fprintf(w->out, "\n%*s", margin, "");
            column = margin;
        } else if (i > 0) {
            fputc(' ', w->out);
            column++;
        }
        fprintf(w->out, "%s%s", items[i], end);
        column += length;
    }
    if (!count) fputs(tail, w->out);
    fputc('\n', w->out);
    w->blank_lines = 0;
}

void write_section(Writer *w, int number, const char *title)
{
    write_blank(w);
    int used = fprintf(w->out, "// ---- %d %s ", number, title);
    while (used++ < 80) fputc('-', w->out);
    fputs("\n\n", w->out);
    w->blank_lines = 1;
}

// True for ??/, which C and C++ before C++17 read as a backslash.
static bool ends_in_trigraph(const char *text, int length)
{
    return length >= 3 && !memcmp(text + length - 3, "?\?/", 3);
}

int comment_length(const char *text, int length, int limit)
{
    if (length > limit) {
        length = limit;
        while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80) length--;
    }
    while (length > 0 && (strchr(" \t\r\\", text[length - 1]) ||
                          ends_in_trigraph(text, length)))
        length--;
    return length;
}
