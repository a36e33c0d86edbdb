// The budget: the cheapest schedule whose whole arena fits; and all that there
// are, from the one that computes nothing again to the smallest arena.
#ifndef CNNC_DECIDE_REMAT_H
#define CNNC_DECIDE_REMAT_H

#include "../../ir/gpu/overhead.h"
#include "../pass.h"

// For a training step that schedule has ordered: sets g->fit, and
// g->remat_schedule, or leaves that NULL where nothing need be computed again.
// Where nothing fits it is the schedule with the smallest arena that was found.
// False: none is of use by most_time and most_bytes in the options, and none is
// set.
bool fit_budget(Graph *g, const PassOptions *o);

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
