// Schedules of a training step to choose from.
#ifndef CNNC_PARETO_H
#define CNNC_PARETO_H

#include "remat_schedule.h"

typedef struct RematChoice {
    RematSchedule schedule;
    int32_t      room;          // steps that fit in the schedule's bytes
    int64_t      peak, cost;    // as remat_peak and remat_cost say
    bool         as_written;    // of the program's own order, not of pass
                                // schedule's
    bool         brief;         // a short search has it too
} RematChoice;

// By cost, cheapest first; each has a smaller peak than those before it.  The
// same whatever the budget is, so what is chosen of them never costs more where
// there is more memory.
typedef struct RematChoices {
    int32_t      count, capacity;
    RematChoice *choice;
    RematChoice *spare;         // whose bytes are free for the next
    int32_t      spare_count, spare_capacity;
    int64_t      work;          // steps that the search ran; all that it may
                                // where that is too little to begin
} RematChoices;

// Adds a copy of p, in r's arena, if none that is there has as few bytes for as
// little; those that have no fewer for no less are dropped.
void remat_choose(RematChoices *all, const Remat *r, const RematSchedule *p,
                  int64_t peak, int64_t cost, bool as_written);

// Sorts by cost, cheapest first; of equal costs the smaller peak is first.
void remat_sort_choices(RematChoices *all);

// Drops each choice whose peak is no smaller than that of a cheaper one.  The
// list must be sorted.
void remat_drop_dominated(RematChoices *all);

// Drops those whose peak is more than `share` of the peak of the next cheaper
// one that stays; the last stays.  Sorted lists alone.
void remat_thin_choices(RematChoices *all, double share);

// Adds all of `more`, by cost: some are then better than others.
void remat_merge_choices(RematChoices *all, Arena *arena,
                         const RematChoices *more);

#endif
