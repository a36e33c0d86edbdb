// What no schedule of steps within so many bytes costs less than.
#ifndef CNNC_REMAT_BOUND_H
#define CNNC_REMAT_BOUND_H

#include "remat_schedule.h"

// A way to go on from step t, with the least cost for its bytes: how many are
// alive while t runs, and the cost of what runs again behind it, each once.
typedef struct RematPoint {
    int64_t bytes, cost;
    bool   *again;              // of each step
} RematPoint;

// No way is on the other side of it: units * price + cost * scale >= value,
// where fixed + units * unit are its bytes.
typedef struct RematLine {
    int64_t price, scale, value;
} RematLine;

// Points from that where nothing runs again to that of the fewest bytes, each a
// corner of the lower hull of all ways; and lines below that hull.
typedef struct RematCurve {
    int32_t     count, line_count;
    RematPoint *point;
    RematLine  *line;
    int64_t     fixed, unit;
} RematCurve;

enum { EVERYWHERE = -1 };

// The curve at step t, forward or not; one that r has, so not backward_start
// where nothing is behind it.  Each line takes a minimum cut; of those there
// are at most `cuts`, 1 or more: where most is open, or only where the curve
// passes this capacity.  With fewer lines than that it is complete: all corners
// are there, or those around the capacity, and the lines through them.  What is
// returned lives in r's arena.
RematCurve remat_curve(const Remat *r, int32_t t, int64_t capacity,
                       int32_t cuts);

// What a schedule that is within so many bytes while step t runs costs at
// least, beyond that in which nothing runs again; -1 if there is none.
int64_t remat_bound(const RematCurve *c, int64_t capacity);

// Of so many steps, those with the most bytes alive where nothing runs again,
// the two below say the most; *at: which of them does.
//
// What a schedule within so many bytes costs at least; -1 if there is none.
int64_t remat_bound_at_fullest(const Remat *r, int64_t capacity, int32_t steps,
                               int32_t *at);
// The bytes that every schedule has alive.
int64_t remat_least_at_fullest(const Remat *r, int32_t steps, int32_t *at);

#endif
