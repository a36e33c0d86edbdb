// What is alive while a step runs, and what will run again: a cut of a graph.
// remat_bound.c takes such cuts at many prices.
#ifndef CNNC_REMAT_CUT_H
#define CNNC_REMAT_CUT_H

#include "min_cut.h"
#include "remat_schedule.h"

// An arc that stands for the bytes of a value, or for the cost of a step.
typedef struct RematCharge {
    int32_t from, to, arc;
    int32_t of;                 // the value; the step
} RematCharge;

// What holds of the first time that step t runs, in all schedules.
typedef struct RematCut {
    const Remat *r;
    int32_t  t;
    Arena   *arena;             // of its own
    // Of each value: it is read behind t; and is alive there in any case; is
    // alive at t in any case, and free to stay so.
    bool    *needed, *stays, *free;
    int64_t *charge;            // bytes more that are alive at t if it stays,
    int64_t *lent;              // which a result of t has if it does not
    int32_t *value_node, *step_node;    // 0: it has none
    int32_t  node_count;
    int32_t *queue, queued;     // values that may be alive
    RematCharge *bytes, *costs, *whole;
    int32_t  byte_count, cost_count, whole_count;
    Flow    *flow;
    bool    *near;
    int64_t  fixed;             // bytes that are alive in any case
    int64_t  unit;              // what the bytes of all others have in common
    int64_t  all_units, all_costs;      // of them, and of steps that may repeat
} RematCut;

// Fills *c but for r, t and arena, which the caller sets.
void remat_cut_new(RematCut *c);

// What is cheapest at this price of a unit, where each step costs scale times
// what it costs, shifted down, but 1 at least: again[i], whether step i runs
// again behind t; *bytes, alive at t; *cost, of what runs again.  Returns the
// sum, without what is fixed.  price * all_units and scale * all_costs are at
// most FLOW_WHOLE / 2.
int64_t remat_cut_at(RematCut *c, int64_t price, int64_t scale, int shift,
                     bool *again, int64_t *bytes, int64_t *cost);

#endif
