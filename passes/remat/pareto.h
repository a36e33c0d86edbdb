// The Pareto front of a training step's schedules.
#ifndef CNNC_PARETO_H
#define CNNC_PARETO_H

#include "remat_schedule.h"

typedef struct RematChoice {
    RematSchedule schedule;
    int32_t      room;          // capacity of schedule.step
    int64_t      peak, cost;    // by remat_peak and remat_cost
    bool         as_written;    // in source order, not in the order of pass
                                // schedule
    bool         brief;         // a short search finds it too
} RematChoice;

// Sorted by cost, cheapest first; each has a smaller peak than those before it.
// The list does not depend on the budget, so more memory never costs more.
typedef struct RematChoices {
    int32_t      count, capacity;
    RematChoice *choice;
    RematChoice *spare;         // removed choices whose memory is free
    int32_t      spare_count, spare_capacity;
    int64_t      work;          // steps that the search ran; its whole limit if
                                // the graph is too deep for it
} RematChoices;

// Adds a copy of p, in r's arena, unless a choice has neither more bytes nor a
// higher cost.  Removes the choices that p dominates.
void remat_choose(RematChoices *all, const Remat *r, const RematSchedule *p,
                  int64_t peak, int64_t cost, bool as_written);

// Sorts by cost, cheapest first; of equal costs the smaller peak is first.
void remat_sort_choices(RematChoices *all);

// Removes each choice whose peak is no smaller than that of a cheaper one.  The
// list must be sorted.
void remat_drop_dominated(RematChoices *all);

// Removes choices whose peak is more than `share` of the peak of the next
// cheaper one that stays.  The last one stays.  The list must be sorted.
void remat_thin_choices(RematChoices *all, double share);

// Adds all of `more` and sorts by cost; the list may then have dominated
// choices.
void remat_merge_choices(RematChoices *all, Arena *arena,
                         const RematChoices *more);

#endif
