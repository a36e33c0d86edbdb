// Which launches wait to be put together, so that no plan is the larger for it.
#ifndef CNNC_DECIDE_HORIZONTAL_H
#define CNNC_DECIDE_HORIZONTAL_H

#include "../pass.h"

// For a training step that is through checkpoint: sets g->waits to the first of
// several ways, ever more sparing, in which the arena is no larger than with
// all launches apart, and each value's offset to what it would be then.  False:
// there is none.
bool choose_waits(Graph *g, const PassOptions *o);

#endif
