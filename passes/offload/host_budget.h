// Offloading for a budget, combined with recomputation.
#ifndef CNNC_HOST_BUDGET_H
#define CNNC_HOST_BUDGET_H

#include "host_copies.h"
#include "../pass.h"
#include "../remat/pareto.h"

typedef struct HostProblem {
    Graph              *g;      // a training step that schedule has ordered
    const PassOptions  *o;
    const RematChoices *all;
    int64_t             budget; // bytes
    int64_t             state;  // persistent bytes of the budget
} HostProblem;

typedef struct HostSchedule {
    int32_t        choice;      // index of the schedule
    const Offloading *offloading;   // in the graph's arena; NULL: nothing is
                                    // offloaded
    int64_t        arena;       // bytes of the whole plan
    int64_t        cost;        // picoseconds
    bool           fits;        // in the budget
} HostSchedule;

// In graphs of at most this many nodes, all candidates are tried with
// offloading.
enum { SMALL_GRAPH = 256 };

// Returns the cheapest schedule within the budget, or `without` if that is as
// cheap; if nothing fits, the smallest that was found.
HostSchedule host_schedule(const HostProblem *p, HostSchedule without);

#endif
