// Schedules of a training step as a chain of stages, for deep nets.
#ifndef CNNC_REMAT_CHAIN_H
#define CNNC_REMAT_CHAIN_H

#include "stages.h"

// Returns the steps of a chain's schedule as a schedule of r, in the arena.
// The first run of a stage has all its steps, later runs only those needed.
RematSchedule remat_chain_schedule(Arena *arena, const RematStages *s,
                                   const RematChain *c, const ChainSchedule *p);

// Calls take(to, schedule) for schedules of r, from the fewest bytes to the
// least recomputation.  A schedule is valid only during the call.  Each table
// computes up to `sums` sums.  False: r has fewer than three stages.
bool remat_chain(const Remat *r, int64_t sums,
                 void (*take)(void *to, RematSchedule schedule),
                 void *to);

#endif
