// The values alive while a step runs and the steps recomputed after it, as a
// cut of a graph.  File remat_bound.c makes such cuts at many prices.
#ifndef CNNC_REMAT_CUT_H
#define CNNC_REMAT_CUT_H

#include "min_cut.h"
#include "remat_schedule.h"

// An arc for the bytes of a value, or for the cost of a step.
typedef struct RematCharge {
    int32_t from, to, arc;
    int32_t of;                 // the value, or the step
} RematCharge;

// The facts about the first run of step t that hold in all schedules, and the
// graph.
typedef struct RematCut {
    const Remat *r;
    int32_t  t;
    Arena   *arena;             // owned by the caller
    // By value: needed: a step after t reads it; stays: it is alive after t in
    // any case; free: it is alive at t in any case, at no extra cost.
    bool    *needed, *stays, *free;
    int64_t *charge;            // bytes added at t if it stays
    int64_t *lent;              // the part of them that a result of t
                                // overwrites if it does not
    int32_t *value_node, *step_node;    // 0: no node
    int32_t  node_count;
    int32_t *queue, queued;     // values that may be alive
    RematCharge *bytes, *costs, *whole;
    int32_t  byte_count, cost_count, whole_count;
    Flow    *flow;
    bool    *near;
    int64_t  fixed;             // bytes alive in any case
    int64_t  unit;              // greatest common divisor of the other values'
                                // bytes
    int64_t  all_units, all_costs;      // sums over these values, and over
                                        // steps that may be recomputed
} RematCut;

// Fills *c, except r, t and arena, which the caller sets.
void remat_cut_new(RematCut *c);

// Makes the cheapest cut at this price of a unit.  The cost of a step is
// multiplied by scale and shifted right, and is at least 1.  Sets
// recomputed[i]: step i is recomputed after t; *bytes: alive at t; *cost: of
// the recomputation.  Returns the cut's value, without the fixed bytes.  price
// * all_units and scale * all_costs are at most FLOW_WHOLE / 2.
int64_t remat_cut_at(RematCut *c, int64_t price, int64_t scale, int shift,
                     bool *recomputed, int64_t *bytes, int64_t *cost);

#endif
