// Finds the largest batch for an arena size by compiling several batches.
#ifndef CNNC_BATCH_SEARCH_H
#define CNNC_BATCH_SEARCH_H

#include "../../codegen/page/page.h"
#include "input.h"
#include "options.h"
#include "run_pipeline.h"

enum { MOST_POINTS = 64 };      // limit of compiled batches

typedef struct BatchSearch {
    Input          in;
    Diag           quiet;       // diagnostics of in, not shown
    Ast            ast;
    const Options *o;
    PassOptions    passes;
    bool           in_slices;   // batches are slices of larger ones
    int64_t        most_work;   // limit; no more batches after it,
    int64_t        end_work;    // and none that may exceed this one, if it
    int64_t        last_work;   // takes as much work as the batch before
    BatchPoint     points[MOST_POINTS + 1];     // by batch
    int            count;
    int64_t        state_bytes;
} BatchSearch;

// Starts a search with o's passes.  The input is a program, not the text of a
// graph.  The search refers to s, which must not move.
void begin_batches(BatchSearch *s, const Input *in, const Options *o);
// Compiles for a batch; adds it and the state, which is a point at batch 0.
// False after an error.
bool try_first(BatchSearch *s, int64_t batch);
// True if programs of this mode share the arena of a file of mode `file`.
bool shares_arena(Mode file, int program);
// Compiles all programs that share the arena of a file of the search, with the
// options `frontend`.  Sets their size and a training step's cost.  False after
// an error.
bool measure_file(BatchSearch *s, const FrontendOptions *frontend,
                  PlanSize *size);
// Likewise with the whole batch at once; without --ghost if only slices need
// it.  Sets frontend to the options compiled.
bool measure_whole(BatchSearch *s, FrontendOptions *frontend, PlanSize *size);
// Adds a batch that is compiled already.
void add_batch(BatchSearch *s, BatchPoint point);
// Compiles a new batch and adds its point; false after errors, or if the work
// is spent and there is a point.
bool try_batch(BatchSearch *s, int64_t batch);
// Returns the largest batch known to fit when the next does not, or when the
// work is spent.  s must have two points or more.
Capacity largest_batch(BatchSearch *s, int64_t bytes);

#endif
