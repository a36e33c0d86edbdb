// Lower bounds of the cost of schedules within a number of bytes.
#ifndef CNNC_REMAT_BOUND_H
#define CNNC_REMAT_BOUND_H

#include "remat_schedule.h"

// A cheapest continuation from step t for its bytes.  It has the bytes alive
// while t runs, and the cost of the steps recomputed after it, each once.
typedef struct RematPoint {
    int64_t bytes, cost;
    bool   *recomputed;         // of each step
} RematPoint;

// A line that no continuation is below: units * price + cost * scale >= value,
// where its bytes are fixed + units * unit.
typedef struct RematLine {
    int64_t price, scale, value;
} RematLine;

// Points from no recomputation to the fewest bytes, each a corner of the lower
// hull of all continuations; and lines below that hull.
typedef struct RematCurve {
    int32_t     count, line_count;
    RematPoint *point;
    RematLine  *line;
    int64_t     fixed, unit;
} RematCurve;

enum { EVERYWHERE = -1 };

// Returns the curve at step t, a step of r, forward or not.  Each line takes a
// minimum cut, at most `cuts`, 1 or more.  Cuts are made at the largest open
// edge, or only at edges that contain this capacity.  A curve with fewer lines
// than `cuts` is complete: it has all corners, or those around the capacity,
// and the lines through them.  The result is stored in r's arena.
RematCurve remat_curve(const Remat *r, int32_t t, int64_t capacity,
                       int32_t cuts);

// Returns a lower bound of the recomputation cost of any schedule within
// `capacity` bytes while step t runs; -1 if there is no such schedule.
int64_t remat_bound(const RematCurve *c, int64_t capacity);

// The next two take the `steps` steps with the most live bytes without
// recomputation, and return the largest bound over them; *at: its step.
//
// Returns a lower bound of the cost of schedules within `capacity` bytes; -1 if
// there is none.
int64_t remat_bound_at_fullest(const Remat *r, int64_t capacity, int32_t steps,
                               int32_t *at);
// Returns a lower bound of the peak of all schedules, in bytes.
int64_t remat_least_at_fullest(const Remat *r, int32_t steps, int32_t *at);

#endif
