// The budget: finds the cheapest schedule whose whole arena fits, and the curve
// of all schedules, from no recomputation to the smallest arena.
#ifndef CNNC_DECIDE_REMAT_H
#define CNNC_DECIDE_REMAT_H

#include "../../ir/gpu/overhead.h"
#include "../pass.h"

// The decision of checkpoint, for a training step that schedule has ordered: by
// the budget or by marks.  Sets g->decisions.fit, .offloading and
// .remat_schedule, which stays NULL if nothing need be recomputed.  If nothing
// fits, takes the schedule with the smallest arena found.  Returns PASSES_STOP
// after an error about marks, or if most_time and most_bytes in the options
// exclude all schedules.
PassDecision decide_schedule(Graph *g, const PassOptions *o);

// True if a placed graph of any mode fits in the budget.  False after an error;
// Diag.over_budget is then set.
bool check_budget(const Graph *g, const PassOptions *o);

// Returns at most `most` points, 12 or more, spread evenly over the schedules
// of the search, for a training step that schedule has ordered.  Large nets
// have fewer.  Ignores o's budget.  A budget of a point's bytes gets its arena,
// mostly less than 1/1000 below it; the first point is exact.  The points are
// stored in g's arena.
ArenaCosts budget_curve(Graph *g, const PassOptions *o, int most);

#endif
