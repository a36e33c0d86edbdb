// Buffers read from a file, to be placed: cnnc --plan.
#ifndef CNNC_INSTANCE_H
#define CNNC_INSTANCE_H

#include "../../ir/base/diag.h"
#include "../../passes/placement/place.h"
#include "options.h"

// A row of the file.
typedef struct Row {
    Pos     pos;                // of its id
    char   *id;
    int64_t lower, upper;       // alive in [lower, upper)
    int64_t size;
    int64_t alignment;          // of its address; 1 to 2^30
} Row;

typedef struct Instance {
    Row    *rows;
    Item   *items;              // of each row, in the order of rows; sizes are
                                // in units, rounded up
    int32_t count;
    int64_t unit;               // bytes: the largest alignment
} Instance;

// Reads a CSV file in MiniMalloc's format: a line of names, then one buffer a
// line.  The columns are id (or buffer, buffer_id), lower (start, begin), upper
// (or end, which is inclusive) and size, in any order.  Optional are alignment,
// where all values divide the largest; offset and hint, which are ignored; and
// gaps, which must be empty.  False, with a message, if the file can't be read.
// Errors in it are counted in diag.
bool instance_read(Instance *in, Arena *arena, Diag *diag, const char *path);

// plan_instance.c: reads, places and prints; returns the exit status.
int plan_instance(const Options *o);

#endif
