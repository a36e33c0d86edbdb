// The budget: the cheapest program whose whole arena fits.
#ifndef CNNC_BUDGET_H
#define CNNC_BUDGET_H

#include "pass.h"

// For a training step that schedule has ordered: sets g->program, or leaves it
// NULL where nothing need be computed again.  False, after an error that says
// what would fit, where nothing does; Diag.over_budget is then set.
bool fit_budget(Graph *g, const PassOptions *o);

// That a placed graph of any mode fits; else as above.
bool check_budget(const Graph *g, const PassOptions *o);

#endif
