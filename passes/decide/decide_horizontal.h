// Decides which launches wait for horizontal fusion without enlarging the
// arena.
#ifndef CNNC_DECIDE_HORIZONTAL_H
#define CNNC_DECIDE_HORIZONTAL_H

#include "../pass.h"

// The decision of fuse_horizontal, after checkpoint.  Sets g->decisions.waits
// to the first of several settings, ever sparser, whose arena is no larger than
// without fusion.  Sets each value's offset to its offset without fusion.
// Leaves the pass out if there is none.
PassDecision decide_waits(Graph *g, const PassOptions *o);

#endif
