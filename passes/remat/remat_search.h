// Schedules of a training step, from the one that computes nothing again to the
// one with the fewest bytes.
#ifndef CNNC_REMAT_SEARCH_H
#define CNNC_REMAT_SEARCH_H

#include "pareto.h"

// The work of a search for the cheapest schedules, and of a short one, for
// their
// sizes: steps that are run.
enum { REMAT_WORK = 48000000, REMAT_QUICK_WORK = REMAT_WORK / 8 };

// levels: how many peaks it aims at, evenly spread between the most and the
// least bytes.  Work is counted: equal problems have equal answers.  What it
// returns lies in r's arena.
RematChoices remat_search(const Remat *r, int levels, int64_t work);

#endif
