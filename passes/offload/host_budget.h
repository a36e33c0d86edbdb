// Host memory for a budget, beside schedules that compute something again.
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
    int64_t             state;  // of these, what is persistent
} HostProblem;

typedef struct HostSchedule {
    int32_t        choice;      // of the schedules
    const Offloading *offloading;   // in the graph's arena; NULL: nothing is
                                // offloaded
    int64_t        arena;       // of the whole plan
    int64_t        cost;        // picoseconds
    bool           fits;        // in the budget
} HostSchedule;

// Nodes of a graph of which all candidates are tried with maps in host memory.
enum { SMALL_GRAPH = 256 };

// What is cheapest within the budget, or without maps in host memory if that is
// as cheap; where nothing fits, the smallest that was found.
HostSchedule host_schedule(const HostProblem *p, HostSchedule without);

#endif
