// The runs of one stage: which steps they are, and the bytes alive in them.
#ifndef CNNC_STAGE_STEPS_H
#define CNNC_STAGE_STEPS_H

#include "reverse_liveness.h"
#include "stages.h"

enum { NO_VALUE = -1 };

typedef struct RematRuns {
    Arena             *arena;
    const RematStages *s;
    RematScan          scan;
    int32_t            stage;
    int32_t            input, output;   // values, or NO_VALUE
    bool              *own;     // of each value: the stage makes it, and again
    bool              *keep;    // of its own: it stays from the run forward to
                                // that backward; the caller sets it
    bool              *there, *wanted;
    int32_t           *value, value_count;      // those that are its own
    int32_t           *passing, passing_count;  // those made behind
                                // backward_start that live on behind the stage
    RematList          list;    // room for a list
    int32_t            list_capacity;
} RematRuns;

RematRuns remat_runs_new(Arena *arena, const RematStages *s);
// The runs of this stage from now on; nothing is to be kept.
void remat_runs_of(RematRuns *g, int32_t stage);

// All forward steps of the stage; those that are needed for its output, or for
// what is kept; and its steps behind backward_start, each after those that make
// again what it reads and is not kept.
RematList remat_runs_all(RematRuns *g);
RematList remat_runs_forward(RematRuns *g, bool output, bool kept);
RematList remat_runs_backward(RematRuns *g);
RematList remat_runs_joined(RematRuns *g, const RematList *a,
                            const RematList *b);

// The cost of remat_runs_backward's list, which is not kept.
int64_t remat_backward_cost(RematRuns *g);

// The sum of the steps' costs; whether one reads v.
int64_t remat_list_cost(const Remat *r, const RematList *list);
bool remat_list_reads(const Remat *r, const RematList *list, int32_t v);

// What is alive behind a run.
typedef struct RematLeft {
    bool output, kept;          // its output, and what is kept
    bool gradient;              // what later backward steps read
} RematLeft;

ChainPeak remat_runs_peak(RematRuns *g, const RematList *list, RematLeft left);

#endif
