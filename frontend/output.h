// Files that are whole or not there: written beside their place under another
// name, and moved when all went well.
#ifndef CNNC_OUTPUT_H
#define CNNC_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include "../ir/arena.h"

typedef struct Output {
    FILE       *stream;
    const char *path;           // where it goes; NULL: standard output
    const char *temporary;      // where it is; NULL: in place
} Output;

// path NULL or "-" is standard output.  What can't be opened or written is
// said on standard error.
bool output_open(Output *out, Arena *arena, const char *path);
bool output_close(Output *out);
// After a failure: nothing is left of it.
void output_discard(Output *out);

#endif
