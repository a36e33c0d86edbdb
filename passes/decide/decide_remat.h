// The budget: the cheapest schedule whose whole arena fits; and all that there
// are, from the one that computes nothing again to the smallest arena.
#ifndef CNNC_DECIDE_REMAT_H
#define CNNC_DECIDE_REMAT_H

#include "../../ir/gpu/overhead.h"
#include "../pass.h"

// The decision of checkpoint, for a training step that schedule has ordered: by
// the budget or by marks.  Sets g->decisions.fit, .offloading and
// .remat_schedule, which stays NULL where nothing need be recomputed.  Where
// nothing fits it is the schedule with the smallest arena that was found.
// PASSES_STOP: after an error about marks, or since no schedule is of use by
// most_time and most_bytes in the options.
PassDecision decide_schedule(Graph *g, const PassOptions *o);

// That a placed graph of any mode fits.  False, after an error, where it does
// not; Diag.over_budget is then set.
bool check_budget(const Graph *g, const PassOptions *o);

// Of a training step that schedule has ordered, at most `most` points, 12 or
// more, that are evenly spread over the schedules of the search; large nets
// have fewer.  o's budget does not matter.  A budget of as many bytes gets each
// arena, mostly less than a thousandth below it; the first is exact.  It lies
// in g's arena.
ArenaCosts budget_curve(Graph *g, const PassOptions *o, int most);

#endif
