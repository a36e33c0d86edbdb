// Parts of the pipeline on copies of a graph, for searches: the arena that a
// decision would lead to.
#ifndef CNNC_TRIAL_H
#define CNNC_TRIAL_H

#include "pass.h"

// The arena that a graph which schedule has ordered would have, if checkpoint
// made this schedule of it; NULL: without one.  If it is above `limit`, what is
// returned may be less than the arena, but is above it too.  Launches that are
// put together take no more, but may take less.
int64_t arena_after(const Graph *g, const PassOptions *o,
                    const struct RematSchedule *schedule, int64_t limit);

// Such a graph, in arena, as it is after that, in the order that schedule finds
// for it.
Graph *ordered_with(const Graph *g, const PassOptions *o,
                    const struct RematSchedule *schedule, Arena *arena);
// A graph that was ordered with its schedule, through liveness and
// share_buffers, its launches together or apart; in arena.
Graph *shared_after(const Graph *ordered, const PassOptions *o, bool together,
                    Arena *arena);
// Plans such a one; its arena, limit as above.
int64_t arena_of_shared(Graph *shared, const PassOptions *o, int64_t limit);
// One with these values in host memory, in arena; and its arena, limit as
// above.
Graph *offloaded_with(const Graph *ordered, const PassOptions *o,
                      const struct Offloading *offloading, Arena *arena);
int64_t arena_offloaded(const Graph *offloaded, const PassOptions *o,
                        int64_t limit);

// The most bytes alive at once in g after the enabled passes from number
// `first` on: no plan is smaller.  Nothing is computed again or put together,
// and g is done with.
int64_t least_from(Graph *g, const PassOptions *o, int first);

// Adds the copies to host memory and back that g->decisions.offloading asks
// for, to a graph in its last order, which stays.
void copy_to_host(Graph *g, const PassOptions *o);

#endif
