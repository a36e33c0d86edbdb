// Problems of recomputation, for tests of the passes
// that solve them: small ones from text, and random ones.
#ifndef CNNC_TEST_REMATS_H
#define CNNC_TEST_REMATS_H

#include "../../passes/remat/remat_schedule.h"

// A line a step: its cost, ! if it may not repeat, its operands, >, its
// results, and y/x where y may lie over x; values are letters, each with its
// bytes where it is named first, and * if it is kept.  A line | is the turn.
//
//   2 x:8 > a:4
//   1! a > b:4 l:1* b/a
//   |
//   3 b x > g:8
Remat remat_read(Arena *arena, const char *text);

// A schedule in the same letters: the number of each step, from 0.
RematSchedule remat_schedule(Arena *arena, const char *text);
// Every step once.
RematSchedule remat_base(Arena *arena, const Remat *r);

// The form of a random problem.
typedef struct RematKind {
    int forward, backward;      // steps
    int most_bytes, most_cost;
    // Out of 100: results that are of two steps, steps that may not repeat,
    // values that are kept, results that may lie over an operand.
    int split, fixed, kept, over;
    bool chain;                 // each step reads the one before it alone
} RematKind;

// Equal seeds, equal problems.  Steps read values made shortly before and
// sometimes earlier; backward steps go through the forward ones from the last
// to the first, and each reads an operand or result of one of those, too.
Remat random_remat(Arena *arena, uint64_t seed, RematKind kind);

#endif
