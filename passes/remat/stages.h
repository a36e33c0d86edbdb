// A training step as a chain of stages, where its net has places that one map
// alone goes through.
//
//   forward    s0 s0 | s1 s1 s1 | s2 s2       at | one value is read behind it
//   backward   s2 s2 | s1 s1 | s0 s0 s0       and no step of s1 reads what
//                                             another stage keeps to itself
#ifndef CNNC_STAGES_H
#define CNNC_STAGES_H

#include "chain.h"
#include "remat_schedule.h"

// Stage i runs the forward steps from forward[i] to before forward[i + 1], and
// the others from backward[i + 1] to before backward[i].
typedef struct RematStages {
    const Remat *r;
    int32_t  count;             // at least 1
    int32_t *forward, *backward;        // count + 1 each
    int32_t *output;            // of each stage but the last: the value that
                                // the next one reads
    bool    *once;              // of each value: it stays when it has been made
    Remat    counted;           // r, where what is made once has no bytes
    int32_t *last_reader;       // of each value, behind backward_start; -1:
                                // none
} RematStages;

// The values that cross such places alone, in the order of the places, into
// value, which has room for r->backward_start; returns how many.
int32_t remat_cuts(Arena *arena, const Remat *r, int32_t *value);

// As many stages as there are, or `most`: the smallest neighbours are then made
// one.  Small values (all of them have a 64th of the forward bytes), those that
// last and those of steps that may not repeat are made once.  What it returns
// lies in the arena.
RematStages remat_stages(Arena *arena, const Remat *r, int32_t most);

// ---- what stages are as a chain ---------------------------------------------

// Steps in the order of r.
typedef struct RematList {
    int32_t  count;
    int32_t *step;
} RematList;

// A way to run a stage: what it keeps for its backward steps.
typedef struct RematWay {
    RematList forward;          // for its output and what is kept
    RematList kept;             // the same without the output, as in a turn
    RematList backward;         // with what has to be made again
} RematWay;

typedef struct RematStage {
    RematList first;            // all forward steps
    RematList again;            // those that make the output alone
    int32_t   way_count;        // at least 1; turn i of the chain is way i
    RematWay *ways;
} RematStage;

// The chain that the stages are, and what its runs are in steps.  Costs are
// those of r divided by `scale`, where they are too many for a chain.
typedef struct RematChain {
    Chain       chain;
    RematStage *stage;
    int64_t     scale;
} RematChain;

RematChain remat_chain_of(Arena *arena, const RematStages *s);

#endif
