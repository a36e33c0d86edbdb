// The largest batch for some bytes, found by compiling for others.
#ifndef CNNC_BATCHES_H
#define CNNC_BATCHES_H

#include "../codegen/page.h"
#include "input.h"
#include "options.h"

enum { MOST_POINTS = 64 };      // batches that are compiled

typedef struct BatchSearch {
    Input          in;
    Diag           quiet;       // of in: nothing that goes wrong is shown
    Ast            ast;
    const Options *o;
    PassOptions    passes;
    int64_t        most_nodes;  // of all graphs compiled
    BatchPoint     points[MOST_POINTS + 1];     // by batch
    int            count;
    int64_t        nodes, state_bytes;
} BatchSearch;

// With o's passes and no limit but MOST_POINTS; of a program, not the text of a
// graph.  Lives where s does, which must not move.
void begin_batches(BatchSearch *s, const Input *in, const Options *o);
// Likewise, of the smallest arenas that there are, or of those where nothing is
// computed again.  first: the batch to begin with; the state is a point at
// batch 0.  False after an error.
bool begin_smallest(BatchSearch *s, const Input *in, const Options *o,
                    bool again, int64_t first);

// Whether programs of this mode lie in the arena of a file of that.
bool shares_arena(Mode file, int program);
// A batch that is compiled already.
void add_batch(BatchSearch *s, BatchPoint point);
// Compiles for a batch that was not yet, and adds its point; false when the
// work is spent, or after errors.
bool try_batch(BatchSearch *s, int64_t batch);
// The largest known to fit when one more does not, or the work is spent; s has
// two points or more.
Capacity largest_batch(BatchSearch *s, int64_t bytes);

#endif
