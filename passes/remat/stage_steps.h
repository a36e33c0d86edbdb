// The runs of one stage: their steps and live bytes.
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
    bool              *own;     // of each value: the stage makes and may remake
                                // it
    bool              *keep;    // of own values: kept from the forward to the
                                // backward run; set by the caller
    bool              *there, *wanted;
    int32_t           *wish, wish_count;        // the wanted values
    int32_t           *value, value_count;      // the own values
    int32_t           *passing, passing_count;  // results of backward steps
                                                // that live past the stage
    RematList          list;    // a list under construction
    int32_t            list_capacity;
    int64_t            looks;   // steps looked at so far
} RematRuns;

RematRuns remat_runs_new(Arena *arena, const RematStages *s);
// Selects the stage for the functions below; no value is marked to be kept.
void remat_runs_of(RematRuns *g, int32_t stage);

// Return lists of steps: all forward steps of the stage; those needed for its
// output or for kept values; its backward steps, each after the steps that
// recompute its missing operands; the concatenation of two lists.
RematList remat_runs_all(RematRuns *g);
RematList remat_runs_forward(RematRuns *g, bool output, bool kept);
RematList remat_runs_backward(RematRuns *g);
RematList remat_runs_joined(RematRuns *g, const RematList *a,
                            const RematList *b);

// Returns the cost of remat_runs_backward's list.
int64_t remat_backward_cost(RematRuns *g);

// Returns the sum of the steps' costs; true if a step reads v.
int64_t remat_list_cost(const Remat *r, const RematList *list);
bool remat_list_reads(const Remat *r, const RematList *list, int32_t v);

// The values alive after a run.
typedef struct RematLeft {
    bool output, kept;          // its output, and the kept values
    bool gradient;              // operands of later backward steps
} RematLeft;

ChainPeak remat_runs_peak(RematRuns *g, const RematList *list, RematLeft left);

#endif
