// Schedules of a training step that is a chain of stages, for deep nets.
#ifndef CNNC_REMAT_CHAIN_H
#define CNNC_REMAT_CHAIN_H

#include "stages.h"

// The steps of a chain's schedule as one of r's, in the arena: the first time
// that a stage runs, all of its steps do, and then those that are needed.
RematSchedule remat_chain_schedule(Arena *arena, const RematStages *s,
                                   const RematChain *c, const ChainSchedule *p);

// Schedules of r, if it has three stages at least, from that with the fewest
// bytes to that which computes least again; each is passed to `take` with
// `to`, and is gone when that returns.  A table of the search takes up to
// `sums` sums.  False: r has fewer stages.
bool remat_chain(const Remat *r, int64_t sums,
                 void (*take)(void *to, RematSchedule schedule),
                 void *to);

#endif
