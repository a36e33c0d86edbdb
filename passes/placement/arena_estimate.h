// Estimates of arenas, for comparing many graphs (assign_offsets.c).
#ifndef CNNC_ARENA_ESTIMATE_H
#define CNNC_ARENA_ESTIMATE_H

#include "../../ir/ir.h"

// Returns a lower bound in bytes of the arena for this order and sharing: the
// peak of live bytes, which most plans reach.
int64_t plan_least(Graph *g);

// Plans g with a short search and returns its arena; assign_offsets finds none
// that is larger.
int64_t plan_trial(Graph *g, const struct PassOptions *o);

// Like plan_trial, but the search ends at an arena that is within the limit and
// at most 1/NEAR_PARTS above the lower bound.
enum { NEAR_PARTS = 1000 };
int64_t plan_near(Graph *g, const struct PassOptions *o, int64_t limit);

#endif
