// Buffers from a file, to be given addresses: cnnc --plan.
#ifndef CNNC_INSTANCE_H
#define CNNC_INSTANCE_H

#include "../../ir/base/diag.h"
#include "../../passes/placement/place.h"
#include "options.h"

// A row of the file.
typedef struct Row {
    Pos     pos;                // of its id
    char   *id;
    int64_t lower, upper;       // it lives from lower to before upper
    int64_t size;
    int64_t alignment;          // of its address; 1 to 2^30
} Row;

typedef struct Instance {
    Row    *rows;
    Item   *items;              // one for each row, in the order of the rows;
                                // sizes are in units, rounded up
    int32_t count;
    int64_t unit;               // bytes: the largest alignment
} Instance;

// Reads a CSV file like MiniMalloc's: a line of names, then a buffer a line.
// The columns are id (or buffer, buffer_id), lower (start, begin), upper (or
// end, which is inclusive) and size, in any order, and perhaps alignment;
// offset and hint are not looked at, and gaps must be empty.  Every alignment
// divides the largest.  False if the file can't be read, which is told; errors
// in it are counted in diag.
bool instance_read(Instance *in, Arena *arena, Diag *diag, const char *path);

// plan_instance.c: reads, places and prints; the status to exit with.
int plan_instance(const Options *o, Diag *diag);

#endif
