// Which launches wait to be put together, so that no plan is the larger for it.
#ifndef CNNC_DECIDE_HORIZONTAL_H
#define CNNC_DECIDE_HORIZONTAL_H

#include "../pass.h"

// The decision of fuse_horizontal, after checkpoint.  For a training step: sets
// g->decisions.waits to the first of several ways, ever more sparing, in which
// the arena is no larger than with all launches apart, and each value's offset
// to its place without the pass.  Leaves the pass out if there is none.
PassDecision decide_waits(Graph *g, const PassOptions *o);

#endif
