// The bytes alive in a list of steps, counted from its end.
#ifndef CNNC_REVERSE_LIVENESS_H
#define CNNC_REVERSE_LIVENESS_H

#include "remat_schedule.h"

// A value where the count is: a search asks for all of it at once.
typedef struct RematScanned {
    int64_t bytes;
    int32_t makers, parts;      // steps that make it; those that are still to
                                // come, from the end
    int32_t reader;             // the place that reads it
    bool    needed, kept;       // needed: it is read later
} RematScanned;

typedef struct RematScan {
    const Remat  *r;
    RematScanned *value;
    int32_t       time;         // a place's name, never used twice
    int64_t       alive;        // bytes behind the step that is next
} RematScan;

RematScan remat_scan_new(Arena *arena, const Remat *r);

// Begins at the end of a schedule, where what is kept is alive.
void remat_scan_end(RematScan *s);

// That v is alive behind the step that is next, the last.
void remat_scan_need(RematScan *s, int32_t v);

// Takes the step before, and returns the bytes alive while it runs.
int64_t remat_scan_step(RematScan *s, int32_t step);

#endif
