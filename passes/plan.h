// What is asked of the last pass beside the plan itself.
#ifndef CNNC_PASSES_PLAN_H
#define CNNC_PASSES_PLAN_H

#include "../ir/ir.h"

// Stands in for plan: each value has an address of its own.
void plan_disjoint(Graph *g);

// The fewest bytes that an arena for this order and sharing can have: those
// alive at once, of which most plans have no more.
int64_t plan_least(Graph *g);

// The arena that a short search finds, for comparing many graphs; plan finds
// none that is larger.
int64_t plan_trial(Graph *g);

#endif
