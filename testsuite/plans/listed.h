// The nets whose plans are corrupted, as they are listed.
#ifndef CNNC_TEST_LISTED_H
#define CNNC_TEST_LISTED_H

#include "../../ir/plan/plan.h"

// A net at one level, in every mode that it has; NULL where it has not.
typedef struct Net {
    char       *name;
    int         level;
    int         every;          // one in this number is run; 0: never
    int         rare;           // drawn one time in this number
    Graph      *graph[MODE_COUNT];
    const Plan *plan[MODE_COUNT];
    const Plan *apart[MODE_COUNT];      // were no launches one step
    bool        shown[MODE_COUNT];      // the plan was printed
    bool        emitted[MODE_COUNT];    // the file of its mode was; that of
                                // TRAIN is EVAL's as well
} Net;

// Reads a line, which it changes:
//
//     NAME FILE BATCH EVERY [-D NAME=V]... [WORD]...
//
// EVERY is a number as above; or `weighed`: then all are run, and it is drawn the
// less the more a run takes.  The words are a net's options: squeeze=N, a
// budget of training, N hundredths above the smallest (squeeze.h); offload,
// with that; microbatch=N; half. Fills levels 0 to 2, in arena; ends the
// program where the line is wrong, or the net has no plan.
enum { LEVELS = 3 };
void read_net(Arena *arena, char *line, Net net[LEVELS]);

#endif
