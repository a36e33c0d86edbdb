// Programs of a training step to choose from.
#ifndef CNNC_REMAT_CHOICES_H
#define CNNC_REMAT_CHOICES_H

#include "remat.h"

typedef struct RematChoice {
    RematProgram program;
    int64_t      peak, cost;    // as remat_peak and remat_cost say
    bool         as_written;    // of the program's own order, not of schedule's
} RematChoice;

// By cost, cheapest first; each has a smaller peak than those before it.  The
// same whatever the budget is, so what is chosen of them never costs more where
// there is more memory.
typedef struct RematChoices {
    int32_t      count, capacity;
    RematChoice *choice;
} RematChoices;

// Adds a copy of p, in r's arena, if none that is there has as few bytes for as
// little.
void remat_choose(RematChoices *all, const Remat *r, const RematProgram *p,
                  int64_t peak, int64_t cost);

// By cost, without those that another is better than.
void remat_sort_choices(RematChoices *all);

#endif
