// The layout of emitted text: indents, columns, wrapping.
#ifndef CNNC_WRITER_H
#define CNNC_WRITER_H

#include <stdio.h>

typedef struct Writer {
    FILE *out;
    int   width;                // of a line
    int   indent;               // spaces before each line
    int   blank_lines;          // blank lines at the end of the printed text
} Writer;

// Prints one line, indented.
void write_line(Writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Prints a blank line, unless the last line is blank.
void write_blank(Writer *w);
// Prints head, items separated by commas, then tail: `f(a, b);`.  An item that
// exceeds the width starts a new line under the first character after head.
void write_list(Writer *w, const char *head, const char *const *items,
                int count, const char *tail);
// Prints "// ---- 3 forward ---...", 80 columns wide.
void write_section(Writer *w, int number, const char *title);

// Returns the length of the prefix of text, at most limit, that can end a
// comment line.  It ends in no blank, half character or character that
// continues the line.
int comment_length(const char *text, int length, int limit);

#endif
