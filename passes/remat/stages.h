// A training step as a chain of stages, if its net has places that only one map
// crosses.
//
//   forward    s0 s0 | s1 s1 s1 | s2 s2       at | one value has later readers
//   backward   s2 s2 | s1 s1 | s0 s0 s0       and no step of s1 reads an inner
//                                             value of another stage
#ifndef CNNC_STAGES_H
#define CNNC_STAGES_H

#include "chain.h"
#include "remat_schedule.h"

// Stage i runs the forward steps from forward[i] to before forward[i + 1], and
// the other steps from backward[i + 1] to before backward[i].
typedef struct RematStages {
    const Remat *r;
    int32_t  count;             // at least 1
    int32_t *forward, *backward;        // count + 1 each
    int32_t *output;            // of each stage except the last: the value that
                                // the next one reads
    bool    *once;              // of each value: it is never remade
    Remat    counted;           // r, with 0 bytes for values that are made once
    int32_t *last_reader;       // of each value, from backward_start on; -1:
                                // none
} RematStages;

// Lists the values that cross such places alone, in the order of the places, in
// value, which has room for r->backward_start.  Returns their number.
int32_t remat_cuts(Arena *arena, const Remat *r, int32_t *value);

// Returns all stages, or at most `most`: the smallest neighbours are merged.
// Some values are made once: kept ones, results of steps that may not be
// recomputed, and small ones.  A small value has at most 1/64 of the bytes of
// the mean forward value.  The result is stored in the arena.
RematStages remat_stages(Arena *arena, const Remat *r, int32_t most);

// ---- stages as a chain ------------------------------------------------------

// Steps in the order of r.
typedef struct RematList {
    int32_t  count;
    int32_t *step;
} RematList;

// A way to run a stage, given by the values it keeps for its backward steps.
typedef struct RematWay {
    RematList forward;          // for its output and the kept values
    RematList kept;             // the same without the output, as in a turn
    RematList backward;         // with the recomputed steps
} RematWay;

typedef struct RematStage {
    RematList first;            // all forward steps
    RematList recomputed;       // the steps needed for the output
    int32_t   way_count;        // at least 1; turn i of the chain is way i
    RematWay *ways;
} RematStage;

// The chain of the stages, and the steps of its runs.  Costs are those of r
// divided by `scale`, which keeps them within a chain's limits.
typedef struct RematChain {
    Chain       chain;
    RematStage *stage;
    int64_t     scale;
    int64_t     looks;          // steps looked at: the work
} RematChain;

RematChain remat_chain_of(Arena *arena, const RematStages *s);

#endif
