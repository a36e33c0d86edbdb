// Diagnostics.  error() reports errors of the user's program with a line and a
// caret; compilation continues.  bug() reports an internal error of cnnc and
// exits with status 70.
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
    const char *name;           // as the user gave it
    const char *text;
    size_t      length;
    int32_t    *line_start;
    int32_t     line_count;
} Source;

typedef enum MessageKind {
    MESSAGE_ERROR, MESSAGE_WARNING, MESSAGE_NOTE,
} MessageKind;

// A message as data, for formats other than text.
typedef struct Message {
    MessageKind     kind;
    Pos             pos;        // line 0: no position
    const Source   *source;     // NULL: none
    const char     *text;       // lines of detail follow its first line
    const char     *fixit;      // replaces the text at fixit_pos, or NULL
    Pos             fixit_pos;
    const Source   *fixit_source;
    struct Message *notes;      // notes about this message
    struct Message *next;
} Message;

typedef struct Messages {
    Message *first, *last;
    Message *last_note;         // of the last message, or NULL
} Messages;

typedef struct Diag {
    Arena    *arena;
    FILE     *stream;           // where messages go
    Messages *kept;             // messages are added to it, and not written;
                                // or NULL
    Source   *sources;
    int32_t   source_count, source_capacity;
    int       error_count;
    bool      color;
    bool      quiet;            // messages are counted and not shown
    Pos      *warned;           // places of the warnings shown so far
    int32_t   warned_count, warned_capacity;
    bool      file_failed;      // an error was in writing a file
    bool      over_budget;      // an error was an exceeded budget
} Diag;

// Returns a Diag for another file, with its own sources and errors.  Messages
// go to the same place.
Diag diag_apart(const Diag *diag);

// Adds a source; text is kept, not copied.  Returns its number, for Pos.file.
int32_t diag_add_source(Diag *diag, const char *name, const char *text,
                        size_t length);

// Returns a line (from 1) without its newline, and sets *length.
const char *source_line(const Source *source, int32_t line, int32_t *length);

// Prints file:line:col: error: text, the source line, a caret under the range.
void error(Diag *diag, Pos pos, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Prints a "warning:", which is not counted and does not stop the output.  A
// place is warned of once, since every mode of a program finds the same.
void warning(Diag *diag, Pos pos, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Prints a "note:" after an error.
void note(Diag *diag, Pos pos, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Prints, under the last error, a line with a replacement for the text at pos.
void fixit(Diag *diag, Pos pos, const char *replacement);
// Prints an indented line that belongs to the last message.
void detail(Diag *diag, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Prints "cnnc: ..." about the command line or a file.  It is not counted: the
// caller returns an exit status.
void command_message(Diag *diag, MessageKind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// True if one more error would be shown; there is a limit.
bool shows_errors(const Diag *diag);

// Returns the nearest of count names to a misspelt word, or NULL.  Distances
// ignore case, count transpositions as one edit, and are at most a third of the
// word's length.
const char *nearest_name(const char *word, const char *const *names, int count);

// Reports an internal error: prints "cnnc: internal error: ..." and exits 70.
_Noreturn void bug(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
