// Finds the cheapest schedule within a number of bytes in all states, to
// compare searches and bounds with.
#ifndef CNNC_TEST_BRUTE_REMAT_H
#define CNNC_TEST_BRUTE_REMAT_H

#include "../../passes/remat/remat_schedule.h"

// The cost of the cheapest schedule whose peak is at most capacity, of all in
// which forward steps run once in order, and again, if they may, after the
// turn; *p, in the arena, is one, if p is not NULL.  -1: there is none.  For
// problems of few values, at most 20, and costs of at most some thousand.
int64_t cheapest_program(Arena *arena, const Remat *r, int64_t capacity,
                         RematSchedule *p);

#endif
