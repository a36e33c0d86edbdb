// The report: one page about one net, for people. It needs nothing but itself: no script, no font
// and no picture from elsewhere.
#ifndef CNNC_PAGE_H
#define CNNC_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "../../ir/gpu/overhead.h"
#include "../../ir/plan/plan.h"

// The arena with one pass or lever of memory more than the row before; name
// NULL: with none.
typedef struct PassRow {
    const char *name;
    int64_t     arena_bytes, bound;
} PassRow;

// What was found by compiling for this batch.
typedef struct BatchPoint {
    int64_t batch, arena_bytes;
} BatchPoint;

// The largest batch found to fit in some memory.
typedef struct Capacity {
    int64_t bytes;
    int64_t batch, arena_bytes;     // 0: not even one sample fits
    int64_t above;                  // the next that was compiled, and does not fit; 0: none was
    bool    is_limit;               // no larger batch can be asked for
} Capacity;

typedef struct PageInput {
    Arena            *arena;
    const char       *file, *command_line;  // as typed, without directories
    Graph            *g[MODE_COUNT];        // placed; NULL: not in this page
    const Plan       *plan[MODE_COUNT];     // likewise
    const PassRow    *rows;
    int               row_count;
    const BatchPoint *points;               // by batch
    int               point_count;
    const Capacity   *capacities;
    int               capacity_count;       // 0: the batch can't be chosen
    ArenaCosts        costs;                // none: they were not asked for
    bool              quoted;               // the sources are the program's
} PageInput;

// Only prints; the caller checks the stream.
void print_page(const PageInput *in, FILE *out);

#endif
