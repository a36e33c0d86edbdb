// What less memory costs.
#ifndef CNNC_OVERHEAD_H
#define CNNC_OVERHEAD_H

#include "gpu_model.h"

// What runs again beside all that runs once: how many launches, and how much
// time and how many FLOPs more, as parts of those without them.  Of the time,
// that in which launches wait for copies; these are of so many values, to so
// many bytes of host memory.
typedef struct Overhead {
    int32_t launches;
    double  time, flops;
    double  waiting;
    int32_t offloaded;
    int64_t host_bytes;
} Overhead;
// In the model of g's GPU, of a whole training step with all its slices, as
// graph_cost; launches are counted once.  Where slices are taken inside the
// net, beside what the step has without them.
Overhead graph_overhead(const Graph *g);
// What the launches of a training step cost: of one in slices those before the
// update as often as there are slices, of which the last may be smaller.
PhaseCost graph_cost(const Graph *g);
// "37 launches again, time +4.21 %, FLOPs +3.57 %", in an arena; and where
// values are in host memory "; 3 maps in 12.00 MiB of host memory, waiting
// +0.10 %".
const char *overhead_text(Arena *arena, const Overhead *o);

// "8 samples at a time over maps of 3136 pixels and more", in g's arena.
const char *slices_text(const Graph *g);

// What a budget asked for, of a training step: Graph.fit.
typedef struct Fit {
    int64_t budget;             // bytes
    int64_t plain;              // the arena where nothing runs again
    double  bound;              // what runs again costs this at least, in time
                                // as a part of the rest, in any schedule with
                                // as few bytes alive as the one found, where
                                // the launches first run in the order that they
                                // do
    int64_t work;               // steps that the search for schedules ran
} Fit;
// The same of g, which has one, with its bound: "..., bound +2.50 %".  There is
// none where values are in host memory.
const char *fit_text(const Graph *g);

// An arena, and what it costs; bound as in Fit.
typedef struct ArenaCost {
    int64_t  arena_bytes;
    Overhead again;
    double   bound;
} ArenaCost;

// Cheapest first; each has a smaller arena than those before it.
typedef struct ArenaCosts {
    int32_t    count;
    ArenaCost *point;
} ArenaCosts;

#endif
