// Runs parts of the pipeline on copies of a graph: returns the arena that a
// decision leads to.
#ifndef CNNC_TRIAL_H
#define CNNC_TRIAL_H

#include "pass.h"

// Runs all passes on a graph; false if nothing fits (run_passes).
typedef bool Compile(Graph *g, const PassOptions *o);

// The result of a compilation.  Time in picoseconds.
typedef struct Outcome {
    int64_t arena_bytes, time, flops;
} Outcome;

// Compiles g for its size and cost, without dumps.  arena_bytes is INT64_MAX if
// nothing fits.
Outcome compile_trial(Graph *g, const PassOptions *o, Compile *compile);
// True if a is better than b: it fits and takes less time, or if none fits has
// the smaller arena; of equal arenas the faster one.
bool is_better_outcome(const Outcome *a, const Outcome *b, int64_t budget);

// Returns a copy of g, in arena, that is never shown.
Graph *nameless_copy(const Graph *g, Arena *arena);
// Returns the picoseconds of all launches of g, one by one.
int64_t time_of_launches(const Graph *g);

// Returns the arena in bytes that the scheduled graph g would have if
// checkpoint applied this schedule, or none if NULL.  If the arena exceeds
// `limit`, the result may be less than the arena but exceeds `limit` too.
// Horizontal fusion is left out; with it the arena is no larger, but may be
// smaller.
int64_t arena_after(const Graph *g, const PassOptions *o,
                    const struct RematSchedule *schedule, int64_t limit);

// Returns a copy of g, in arena, after checkpoint and in the order that
// schedule finds for it.
Graph *ordered_with(const Graph *g, const PassOptions *o,
                    const struct RematSchedule *schedule, Arena *arena);
// Returns a copy of a graph from ordered_with, in arena, after liveness and
// share_buffers.  together: with horizontal fusion.
Graph *shared_after(const Graph *ordered, const PassOptions *o, bool together,
                    Arena *arena);
// Plans a graph from shared_after; returns its arena, limit as above.
int64_t arena_of_shared(Graph *shared, const PassOptions *o, int64_t limit);
// Returns a copy with the offloaded values' copies, in arena.
Graph *offloaded_with(const Graph *ordered, const PassOptions *o,
                      const struct Offloading *offloading, Arena *arena);
// Returns the arena in bytes of a graph from ordered_with or offloaded_with,
// without horizontal fusion; limit as above.
int64_t arena_of_ordered(const Graph *g, const PassOptions *o, int64_t limit);

// Returns the peak of g in bytes after the enabled passes from number `first`
// on: a lower bound of all plans.  Without recomputation and horizontal fusion.
// Changes g, which is of no further use.
int64_t least_from(Graph *g, const PassOptions *o, int first);

// Returns the picoseconds of g's step after the enabled passes from number
// `first` on that come before schedule.  Changes g, which is of no further use.
int64_t time_from(Graph *g, const PassOptions *o, int first);

// Adds the host copies that g->decisions.offloading asks for to a graph in its
// final order; the order of the other nodes stays.
void copy_to_host(Graph *g, const PassOptions *o);

#endif
