// The report: one page about one net, for people. It is self-contained, without scripts, fonts or
// pictures from elsewhere.
#ifndef CNNC_PAGE_H
#define CNNC_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "../../ir/gpu/overhead.h"
#include "../../ir/plan/plan.h"

// The arena with one more pass or lever of memory than in the previous row. name is NULL in
// the row without any.
typedef struct PassRow {
    const char *name;
    int64_t     arena_bytes, bound;
} PassRow;

// The arena's size, found by compiling for this batch.
typedef struct BatchPoint {
    int64_t batch, arena_bytes;
} BatchPoint;

// The largest batch that was found to fit in this much memory.
typedef struct Capacity {
    int64_t bytes;
    int64_t batch, arena_bytes;     // 0: not even one sample fits
    int64_t above;                  // the next batch that was compiled and does not fit; 0: none
    bool    is_limit;               // --batch allows no larger one
} Capacity;

// Counts of a profiler: instructions of warps, and products of tensor cores. A request of a warp to
// memory takes sectors or passes, and there is a least number (runtime/ptx/README.md).
typedef enum Count {
    COUNT_LAUNCHES, COUNT_BLOCKS, COUNT_INSTRUCTIONS, COUNT_LANES, COUNT_PRODUCTS, COUNT_BRANCHES,
    COUNT_DIVERGENT, COUNT_LOADS, COUNT_LOAD_BYTES, COUNT_LOAD_SECTORS, COUNT_LOAD_LEAST,
    COUNT_STORES, COUNT_STORE_BYTES, COUNT_STORE_SECTORS, COUNT_STORE_LEAST, COUNT_SHARED,
    COUNT_SHARED_PASSES, COUNT_SHARED_LEAST,
    COUNTS
} Count;

typedef struct StepCounts {
    int64_t of[COUNTS];                     // no launches: the step was not counted
} StepCounts;

typedef struct PageInput {
    Arena            *arena;
    const char       *file, *command_line;  // as typed, without directories
    Graph            *g[MODE_COUNT];        // placed; NULL: not in this page
    const Plan       *plan[MODE_COUNT];     // likewise
    const PassRow    *rows;
    int               row_count;
    const BatchPoint *points;               // in ascending order of batch
    int               point_count;
    const Capacity   *capacities;
    int               capacity_count;       // 0: the batch can't be chosen
    const StepCounts *counts[MODE_COUNT];   // of each step of the plan; NULL: not requested
    ArenaCosts        costs;                // count is 0 if they were not requested
    bool              quoted;               // the page quotes the program's sources
} PageInput;

// Prints the page. The caller checks the stream for errors.
void print_page(const PageInput *in, FILE *out);

#endif
