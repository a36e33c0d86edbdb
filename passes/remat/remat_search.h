// Schedules of a training step, from the one without recomputation to the one
// with the fewest bytes.
#ifndef CNNC_REMAT_SEARCH_H
#define CNNC_REMAT_SEARCH_H

#include "pareto.h"

// The work of a search for the cheapest schedules, and of a short one, for
// their sizes: the number of steps run.
enum { REMAT_WORK = 48000000, REMAT_QUICK_WORK = REMAT_WORK / 8 };

// Returns the Pareto front.  levels: the number of peaks that the search aims
// at, evenly spread from the most to the fewest bytes.  Work is counted, not
// timed, so equal problems have equal answers.  The result is stored in r's
// arena.
RematChoices remat_search(const Remat *r, int levels, int64_t work);

#endif
