// The budget: the cheapest program whose whole arena fits; and all that there
// are, from the one that computes nothing again to the smallest arena.
#ifndef CNNC_BUDGET_H
#define CNNC_BUDGET_H

#include "../ir/gpu.h"
#include "pass.h"

// What a budget asked for, of a training step: Graph.fit.
typedef struct Fit {
    int64_t budget;             // bytes
    int64_t plain;              // the arena where nothing runs again
    double  bound;              // what runs again costs this at least, in time
                                // as a part of the rest, in any program with as
                                // few bytes alive as the one found
} Fit;

// For a training step that schedule has ordered: sets g->fit, and g->program,
// or leaves that NULL where nothing need be computed again.  Where nothing fits
// it is the program with the smallest arena that was found.
void fit_budget(Graph *g, const PassOptions *o);

// That a placed graph of any mode fits.  False, after an error, where it does
// not; Diag.over_budget is then set.
bool check_budget(const Graph *g, const PassOptions *o);

// An arena, and what it costs.
typedef struct BudgetPoint {
    int64_t  arena_bytes;
    Overhead again;
    double   bound;             // as in Fit
} BudgetPoint;

// Cheapest first; each has a smaller arena than those before it.
typedef struct BudgetCurve {
    int32_t      count;
    BudgetPoint *point;
} BudgetCurve;

// Of a training step that schedule has ordered, at most `most` points, 2 or
// more, that are evenly spread over what the search found; o's budget does not
// matter.  Each arena is that of a whole plan.  It lies in g's arena.
BudgetCurve budget_curve(Graph *g, const PassOptions *o, int most);

#endif
