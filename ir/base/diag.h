// Diagnostics.  Two kinds of failure, two words: error() is for the user's
// program (a line, a caret, counted, and the compiler goes on); bug() is for a
// fault of cnnc's own and ends it with exit code 70.
#ifndef CNNC_DIAG_H
#define CNNC_DIAG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "arena.h"

// A range of characters in one line of a source file.  line and column count
// from 1; line 0 means "no position".  length is in characters, at least 1.
typedef struct Pos {
    int32_t file, line, column, length;
} Pos;

// A source file, kept whole so that diagnostics and the emitted banner can
// quote it.  line_start[i] is the offset of line i + 1.
typedef struct Source {
    const char *name;           // as the user wrote it
    const char *text;
    size_t      length;
    int32_t    *line_start;
    int32_t     line_count;
} Source;

typedef struct Diag {
    Arena  *arena;
    FILE   *stream;             // where messages go
    Source *sources;
    int32_t source_count, source_capacity;
    int     error_count;
    bool    color;
    bool    quiet;              // messages are counted and not shown
    Pos    *warned;             // places of the warnings shown so far
    int32_t warned_count, warned_capacity;
    bool    file_failed;        // one of the errors is about writing a file
    bool    over_budget;        // one is that nothing fits in the budget
} Diag;

// Adds a source; text is kept, not copied.  Returns its number, for Pos.file.
int32_t diag_add_source(Diag *diag, const char *name, const char *text,
                        size_t length);

// The text of a line (from 1), without its newline; length in *length.
const char *source_line(const Source *source, int32_t line, int32_t *length);

// file:line:col: error: text, the source line, a caret under the range.
void error(Diag *diag, Pos pos, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The same with "warning:"; it is not counted, and the output is made.  A place
// gets one warning, for each mode of a program finds the same.
void warning(Diag *diag, Pos pos, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The same with "note:", after an error, where it helps.
void note(Diag *diag, Pos pos, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Under the last error: a line that shows what could stand at pos instead.
void fixit(Diag *diag, Pos pos, const char *replacement);

// Whether one more error would be shown: after so many they are only counted.
bool shows_errors(const Diag *diag);

// The nearest of count names to a misspelt word (edit distance with
// transpositions and without regard to case, at most a third of its length), or
// NULL.
const char *nearest_name(const char *word, const char *const *names, int count);

// A fault of cnnc's own: prints "cnnc: internal error: ..." and exits 70.
_Noreturn void bug(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
