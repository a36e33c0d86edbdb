// The largest batch for some bytes, found by compiling for others.
#ifndef CNNC_BATCH_SEARCH_H
#define CNNC_BATCH_SEARCH_H

#include "../../codegen/page/page.h"
#include "input.h"
#include "options.h"
#include "run_pipeline.h"

enum { MOST_POINTS = 64 };      // batches that are compiled

typedef struct BatchSearch {
    Input          in;
    Diag           quiet;       // of in: nothing that goes wrong is shown
    Ast            ast;
    const Options *o;
    PassOptions    passes;
    bool           in_slices;   // batches are slices of larger ones
    int64_t        most_work;   // of the answer, when no more are compiled
    BatchPoint     points[MOST_POINTS + 1];     // by batch
    int            count;
    int64_t        state_bytes;
} BatchSearch;

// With o's passes and no limit but MOST_POINTS; of a program, not the text of a
// graph.  Lives where s does, which must not move.
void begin_batches(BatchSearch *s, const Input *in, const Options *o);
// Compiles for a batch, and takes the state as a point at batch 0.  False after
// an error.
bool try_first(BatchSearch *s, int64_t batch);
// Whether programs of this mode lie in the arena of a file of that.
bool shares_arena(Mode file, int program);
// Compiles what lies in the arena of a file of the search, as frontend says:
// what that comes to, and of a training step what it costs.  False after an
// error.
bool measure_file(BatchSearch *s, const FrontendOptions *frontend,
                  PlanSize *size);
// Likewise with the batch at once, without --ghost where that is only for the
// slices that it then does not come in; frontend is what was compiled.
bool measure_whole(BatchSearch *s, FrontendOptions *frontend, PlanSize *size);
// A batch that is compiled already.
void add_batch(BatchSearch *s, BatchPoint point);
// Compiles for a batch that was not yet, and adds its point; false when the
// work is spent, or after errors.
bool try_batch(BatchSearch *s, int64_t batch);
// The largest known to fit when one more does not, or the work is spent; s has
// two points or more.
Capacity largest_batch(BatchSearch *s, int64_t bytes);

#endif
