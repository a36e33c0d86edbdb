// How large arenas would be, for comparing many graphs (assign_offsets.c).
#ifndef CNNC_ARENA_ESTIMATE_H
#define CNNC_ARENA_ESTIMATE_H

#include "../../ir/ir.h"

// The fewest bytes that an arena for this order and sharing can have: those
// alive at once, of which most plans have no more.
int64_t plan_least(Graph *g);

// The arena that a short search finds; assign_offsets finds none that is
// larger.
int64_t plan_trial(Graph *g, const struct PassOptions *o);

// As plan_trial, but it ends at an arena within the limit that is no more than
// a NEAR_PARTS-th above the fewest bytes.
enum { NEAR_PARTS = 1000 };
int64_t plan_near(Graph *g, const struct PassOptions *o, int64_t limit);

#endif
