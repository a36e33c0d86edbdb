// Programs of a training step, from the one that computes nothing again to the
// one with the fewest bytes.
#ifndef CNNC_REMAT_SEARCH_H
#define CNNC_REMAT_SEARCH_H

#include "remat.h"

typedef struct RematChoice {
    RematProgram program;
    int64_t      peak, cost;    // as remat_peak and remat_cost say
} RematChoice;

// By cost, cheapest first; each has a smaller peak than those before it.  The
// same whatever the budget is, so what is chosen of them never costs more where
// there is more memory.
typedef struct RematChoices {
    int32_t      count, capacity;
    RematChoice *choice;
} RematChoices;

// levels: how many peaks it aims at, evenly spread between the most and the
// least bytes.  Work is counted: equal problems have equal answers.  What it
// returns lies in r's arena.
RematChoices remat_search(const Remat *r, int levels);

#endif
