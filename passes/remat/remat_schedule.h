// What a training step keeps and what it computes again (rematerialization):
// schedules of steps, in which a step may run several times, within so many
// bytes.  Nothing here knows of graphs.
//
//   steps     f1 f2 f3 | b3 b2 b1           b2 reads what f1 makes
//   schedules  f1 f2 f3 b3 b2 b1             f1's result is kept
//             f1 f2 f3 b3 f1 b2 b1          it is computed again
#ifndef CNNC_REMAT_SCHEDULE_H
#define CNNC_REMAT_SCHEDULE_H

#include <stdbool.h>
#include "../../ir/base/arena.h"

// A result of a step that may be written over a value which nobody reads after
// that step: one of the values it makes, one that it reads.
typedef struct RematOver {
    int32_t result, value;
} RematOver;

// The steps of a training step in the order of one that computes nothing twice.
// A value is what has bytes; several steps may each make a part of it, and it
// can be read once all of them have run.
typedef struct Remat {
    Arena   *arena;             // that what is found is taken from
    int32_t  step_count, value_count;
    int32_t  backward_start;    // the first step that is not forward; those
                                // before may run again, behind all of them
    int64_t *cost;              // of running each step, at least 1: picoseconds
    bool    *may_repeat;        // of each step
    int64_t *bytes;             // of each value, at least 1
    bool    *kept;              // of each value: it is alive to the end
    // The values that step i reads: read[reads[i]] to before
    // read[reads[i + 1]]; those it makes, and what may lie over what, likewise;
    // and the steps that make value v, ascending.  A value that none makes is
    // there from the start.
    int32_t   *reads, *makes, *overs, *makers;
    int32_t   *read, *make, *maker;
    RematOver *over;
} Remat;

// Steps in the order they run.
typedef struct RematSchedule {
    int32_t  count;
    int32_t *step;
} RematSchedule;

// The sum of the steps' costs; the most bytes alive while any of them runs,
// where each value lives from the step that makes it to the last that reads
// what that step made, or is written over.  *at: the place in the schedule of
// the first step with so many alive; NULL: it is not asked for.  A bug() if a
// step reads what is not there.
int64_t remat_cost(const Remat *r, const RematSchedule *p);
int64_t remat_peak(const Remat *r, const RematSchedule *p, int32_t *at);

// bytes[i]: how many are alive at place i of the schedule; all p->count are
// filled.
void remat_alive(const Remat *r, const RematSchedule *p, int64_t *bytes);

#endif
