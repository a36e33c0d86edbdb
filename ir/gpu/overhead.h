// The cost of memory savings.
#ifndef CNNC_OVERHEAD_H
#define CNNC_OVERHEAD_H

#include "gpu_model.h"

// The overhead of recomputed launches.  `time` and `flops` are the additions,
// as fractions of those without recomputation.  Member `waiting` is the
// fraction of time in which launches wait for copies.  The copies are of
// `parked` values, in host_bytes of host memory.
typedef struct Overhead {
    int32_t launches;
    double  time, flops;
    double  waiting;
    int32_t offloaded;
    int64_t host_bytes;
} Overhead;
// Returns the overhead of a whole training step with all its slices, in the
// model of g's GPU.  Each launch counts once in `launches`.  With slices inside
// the net, time and FLOPs are relative to the step without them.
Overhead graph_overhead(const Graph *g);
// Returns its launches alone.
int32_t recomputed_launches(const Graph *g);
// Returns the cost of a training step: launches before the update count once
// for each slice, of which the last may be smaller.
PhaseCost graph_cost(const Graph *g);
// Formats "37 launches recomputed, time +4.21 %, FLOPs +3.57 %", in an arena.
// With offloaded values it adds "; 3 maps in 12.00 MiB of host memory, waiting
// +0.10 %".
const char *overhead_text(Arena *arena, const Overhead *o);

// Formats "8 samples at a time over maps of 3136 pixels and more", in g's
// arena.
const char *slices_text(const Graph *g);

// The result of a budget for a training step: Graph.fit.
typedef struct Fit {
    int64_t budget;             // bytes
    int64_t plain;              // the arena without recomputation
    double  bound;              // lower bound on the time of recomputation as a
                                // fraction, for any schedule with at most as
                                // many live bytes and the same order of first
                                // runs
    int64_t work;               // steps of the search for schedules
    bool    refused;            // no schedule fits: the plan is only for its
                                // size
} Fit;
// Formats the overhead of g, which has a fit, with its bound: "..., bound
// +2.50 %".  There is no bound if values are offloaded.
const char *fit_text(const Graph *g);

// An arena and its cost; bound as in Fit.
typedef struct ArenaCost {
    int64_t  arena_bytes;
    Overhead recomputed;
    double   bound;
} ArenaCost;

// Points sorted by cost; each has a smaller arena than those before it.
typedef struct ArenaCosts {
    int32_t    count;
    ArenaCost *point;
} ArenaCosts;

#endif
