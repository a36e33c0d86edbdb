// Finds the cheapest schedule within a number of bytes in all states, to
// compare searches and bounds with.
#ifndef CNNC_TEST_BRUTE_REMAT_H
#define CNNC_TEST_BRUTE_REMAT_H

#include "../../passes/remat/remat_schedule.h"

// Returns the cost of the cheapest schedule whose peak is at most capacity, or
// -1 if there is none. Forward steps run once in order, and again, if they may,
// after the turn. If p is not NULL, *p is set to such a schedule, in the arena.
// For problems of few values, at most 20, and costs of at most some thousand.
int64_t cheapest_program(Arena *arena, const Remat *r, int64_t capacity,
                         RematSchedule *p);

#endif
