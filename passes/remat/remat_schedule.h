// Recomputation in a training step (rematerialization): schedules of steps in
// which a step may run several times, and their bytes.  Independent of graphs.
//
//   steps     f1 f2 f3 | b3 b2 b1           b2 reads what f1 makes
//   schedules  f1 f2 f3 b3 b2 b1             f1's result is kept
//             f1 f2 f3 b3 f1 b2 b1          it is recomputed
#ifndef CNNC_REMAT_SCHEDULE_H
#define CNNC_REMAT_SCHEDULE_H

#include <stdbool.h>
#include "../../ir/base/arena.h"

// A result of a step that may overwrite a value with no later reader: a value
// it makes, a value it reads.
typedef struct RematOver {
    int32_t result, value;
} RematOver;

// The steps of a training step, in an order without recomputation.  A value has
// bytes; several steps may each make a part of it, and it can be read once all
// of them have run.
typedef struct Remat {
    Arena   *arena;             // for results
    int32_t  step_count, value_count;
    int32_t  backward_start;    // the first step that is not forward; steps
                                // before it may be recomputed after the forward
                                // pass
    int64_t *cost;              // of each step, at least 1: picoseconds
    bool    *may_repeat;        // of each step
    int64_t *bytes;             // of each value, at least 1
    bool    *kept;              // of each value: it is alive to the end
    // The values that step i reads: read[reads[i]] to before read[reads[i +
    // 1]].  Its results and overwriting pairs, and the steps that make value v,
    // ascending, are stored likewise.  A value without makers exists from the
    // start.
    int32_t   *reads, *makes, *overs, *makers;
    int32_t   *read, *make, *maker;
    RematOver *over;
} Remat;

// Steps in the order in which they run.
typedef struct RematSchedule {
    int32_t  count;
    int32_t *step;
} RematSchedule;

// Returns a copy, in the arena.
RematSchedule *remat_schedule_copy(Arena *arena, const RematSchedule *p);

// Returns the sum of the steps' costs; the peak of live bytes.  An instance of
// a value lives from its maker to its last reader, or until it is overwritten.
// *at: the first place in the schedule with the peak; may be NULL.  Reports a
// bug() if a step reads a value that does not exist.
int64_t remat_cost(const Remat *r, const RematSchedule *p);
int64_t remat_peak(const Remat *r, const RematSchedule *p, int32_t *at);

// Sets bytes[i], the live bytes at place i of the schedule, for all p->count
// places.
void remat_alive(const Remat *r, const RematSchedule *p, int64_t *bytes);

#endif
