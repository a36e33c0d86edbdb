// Live bytes of a list of steps, counted from its end.
#ifndef CNNC_REVERSE_LIVENESS_H
#define CNNC_REVERSE_LIVENESS_H

#include "remat_schedule.h"

// All state of a value in one struct, because a search needs it all at once.
typedef struct RematScanned {
    int64_t bytes;
    int32_t makers, parts;      // steps that make it; those still to come, from
                                // the end
    int32_t reader;             // the time of the last step that reads it
    bool    needed, kept;       // needed: a later step reads it
} RematScanned;

typedef struct RematScan {
    const Remat  *r;
    RematScanned *value;
    int32_t       time;         // a unique number of each place
    int64_t       alive;        // bytes after the next step to take
} RematScan;

RematScan remat_scan_new(Arena *arena, const Remat *r);

// Starts at the end of a schedule, where kept values are alive.
void remat_scan_end(RematScan *s);

// Marks v alive after the step that remat_scan_step takes next.
void remat_scan_need(RematScan *s, int32_t v);

// Takes the previous step; returns the live bytes while it runs.
int64_t remat_scan_step(RematScan *s, int32_t step);

#endif
