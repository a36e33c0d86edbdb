// The one place where emitted text is laid out: indents, columns, wrapping.
#ifndef CNNC_WRITER_H
#define CNNC_WRITER_H

#include <stdio.h>

typedef struct Writer {
    FILE *out;
    int   width;                // of a line
    int   indent;               // spaces before each line
    int   blank_lines;          // at the end of what was printed
} Writer;

// One line, indented.
void write_line(Writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// A blank line; two never meet.
void write_blank(Writer *w);
// head, then items separated by commas, then tail: `f(a, b);`.  Wraps before
// an item that would pass the width, under the first character after head.
void write_list(Writer *w, const char *head, const char *const *items,
                int count, const char *tail);
// "// ---- 3 forward ---...", as wide as the page.
void write_section(Writer *w, int number, const char *title);

// How much of a text, and at most limit, can end a line that is a comment: not
// blanks, nor half a character, nor what would continue the comment.
int comment_length(const char *text, int length, int limit);

#endif
