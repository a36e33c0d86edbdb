// Buffers from a file, to be given addresses: cnnc --plan.
#ifndef CNNC_INSTANCE_H
#define CNNC_INSTANCE_H

#include "../ir/diag.h"
#include "../passes/place.h"
#include "options.h"

// A row of the file.
typedef struct Row {
    Pos     pos;                // of its id
    char   *id;
    int64_t lower, upper;       // it lives from lower to before upper
    int64_t size;
} Row;

typedef struct Instance {
    Row    *rows;
    Item   *items;              // one for each row, in the order of the rows
    int32_t count;
} Instance;

// Reads a CSV file like MiniMalloc's: a line of names, then a buffer a line.
// The columns id, lower, upper and size, in any order; offset and hint are not
// looked at; columns that would change what is asked are errors.  False if the
// file can't be read, which is said; errors in it are counted in diag.
bool instance_read(Instance *in, Arena *arena, Diag *diag, const char *path);

// plan_instance.c: reads, places and prints; the status to exit with.
int plan_instance(const Options *o, Diag *diag);

#endif
