// Output files that appear whole or not at all.  A file is written under a
// temporary name (temporary.h) in its folder, and moved on success.  No
// temporary name is left at exit, whatever the status, nor after SIGINT,
// SIGTERM or SIGHUP; those of a killed program are removed when the same file
// is next written.  Links are followed, and a replaced file keeps its mode.
#ifndef CNNC_OUTPUT_H
#define CNNC_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include "../../ir/base/diag.h"

typedef struct Output {
    FILE       *stream;         // NULL: never opened
    Diag       *diag;           // where errors go
    const char *path;           // as it was given; NULL: standard output
    const char *place;          // the target: path with links followed
    const char *temporary;      // its name until moved; NULL: in place
    const char *old;            // name of the old file during the move
    int         lock, old_lock; // of these files; -1: none
    bool        was_there, moved;
} Output;

enum { MOST_OUTPUTS = 4 };      // open at once

// Opens an output.  path NULL or "-" is standard output.  Errors go to diag,
// whose arena must outlive the output.
bool output_open(Output *out, Diag *diag, const char *path);
// Closes and moves all outputs or none.  Nothing is moved before all are
// written.  If a move fails, earlier moves are undone, except on file systems
// without hard links.  Outputs that were never opened are skipped.
bool output_close(Output *out, int count);
// True if both paths are one plain file, which may not exist yet.
bool same_file(const char *a, const char *b);
// Removes all traces of the outputs after a failure.
void output_discard(Output *out, int count);

#endif
