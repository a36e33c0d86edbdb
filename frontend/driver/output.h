// Files that are whole or not there: written beside their place under another
// name (temporary.h), and moved when all went well.  None of those names is
// left when the program exits, whatever the status, or by SIGINT, SIGTERM or
// SIGHUP; those of a killed program go when the same file is written again.  A
// link is written through, and a file that was there keeps its mode.
#ifndef CNNC_OUTPUT_H
#define CNNC_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include "../../ir/base/arena.h"

typedef struct Output {
    FILE       *stream;         // NULL: never opened
    const char *path;           // as it was given; NULL: standard output
    const char *place;          // where it goes: the path, with links followed
    const char *temporary;      // where it is; NULL: in place
    const char *old;            // what was there, while all are moved
    int         lock, old_lock; // of the files of those names; -1: none
    bool        was_there, moved;
} Output;

enum { MOST_OUTPUTS = 4 };      // open at once

// path NULL or "-" is standard output.  What can't be opened or written is
// said on standard error.  The arena must live as long as the output.
bool output_open(Output *out, Arena *arena, const char *path);
// All of them or none: nothing is moved before all is written, and where one
// can't be moved those before it are put back (but on file systems without
// hard links).  Outputs that were never opened are left out.
bool output_close(Output *out, int count);
// Whether both names are of one plain file, by whatever folders, be it there
// already or not.
bool same_file(const char *a, const char *b);
// After a failure: nothing is left of them.
void output_discard(Output *out, int count);

#endif
